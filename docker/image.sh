# Sourced by docker/build-*: an image built once and reused while nothing that goes into it has changed.
#   build_image IMAGE DOCKERFILE NEEDED    the files it is made of are listed by `sources`, a function of the caller
# NEEDED are requirements, one a line; they go in as wheels, so the build itself needs no network.
# BASE_IMAGE chooses the base; if it is not set, the Dockerfile's default where it is to be had, else docker/base-image.
# PYTHON chooses who fetches the wheels (any Python with pip).

cd "$(dirname "$0")/.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || echo python3)}

hash() { sha256sum | cut -c1-16; }
labelled() { docker image inspect -f '{{index .Config.Labels "touchstone.content"}}' "$1" 2>/dev/null || true; }

# What pyproject.toml asks for: `requirements base`, `requirements report`.
requirements() {
    "$python" -c 'import sys, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
print(*(project["dependencies"] if sys.argv[1] == "base" else project["optional-dependencies"][sys.argv[1]]), sep="\n")' "$1"
}

# Wheels for the image's Python, whatever Python fetches them.
fetch_wheels() {
    arch=$(uname -m)
    fetch() {
        nice "$python" -m pip download -q --disable-pip-version-check --only-binary=:all: --python-version 3.11 \
            --platform "manylinux_2_28_$arch" --platform "manylinux_2_17_$arch" --platform "manylinux2014_$arch" "$@"
    }
    mkdir -p "$1/pip"
    # pyspark is published as source only: its wheel, the same for every Python, is made here.
    if echo "$2" | grep -q '^pyspark'; then
        echo "$2" | grep '^pyspark' |
            nice "$python" -m pip wheel -q --disable-pip-version-check -w "$1" -c constraints.txt -r /dev/stdin
    fi
    echo "$2" | grep -v '^pyspark' | fetch -d "$1" -c constraints.txt -r /dev/stdin
    fetch -d "$1/pip" --no-deps pip
}

choose_base() {
    default=$(sed -n 's/^ARG BASE_IMAGE=//p' "$1")
    base=${BASE_IMAGE:-}
    for known in touchstone-base "$default"; do
        [ -n "$base" ] || ! docker image inspect "$known" >/dev/null 2>&1 || base=$known
    done
    [ -n "$base" ] || ! timeout 120 docker pull -q "$default" >/dev/null 2>&1 || base=$default
    [ -n "$base" ] || base=$(docker/base-image)
}

build_image() {
    image=$1 dockerfile=$2 needed=$3 made=build/$1
    content=$({ echo "${BASE_IMAGE:-}" "$needed"; sources; cat constraints.txt "$dockerfile" docker/image.sh $(sources); } | hash)
    mkdir -p build
    exec 9>"build/$image.lock" # two who find it out of date build it once
    flock 9
    if [ "$(labelled "$image")" = "$content" ]; then
        echo "$image is up to date"
        return
    fi

    wheels=$({ echo "$needed"; cat constraints.txt; } | hash)
    if [ "$(cat "$made/wheels.content" 2>/dev/null)" != "$wheels" ]; then
        rm -rf "$made"
        fetch_wheels "$made/wheels" "$needed"
        echo "$wheels" >"$made/wheels.content"
    fi
    rm -rf "$made/source" && mkdir "$made/source"
    sources | tar -c --no-recursion -T - | tar -x -C "$made/source"
    cp "$dockerfile" "$made/Dockerfile"
    printf '*.content\n' >"$made/.dockerignore"

    choose_base "$dockerfile"
    docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT INT TERM
    if ! nice docker build --build-arg "BASE_IMAGE=$base" --label "touchstone.content=$content" --force-rm \
        -t "$image" "$made" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        echo "$0: $image could not be built on $base" >&2
        exit 1
    fi
    for label in touchstone.content touchstone.stage; do # what an earlier build, and the wheels' stage, left without a name
        docker image prune -f --filter label=$label >/dev/null
    done
    echo "$image is built on $base"
}
