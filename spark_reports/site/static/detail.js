/* The dialog. Every text is set as text: nothing that a target sent is ever parsed as markup. */
const payload = JSON.parse(document.getElementById("payload").textContent);
const dialog = document.getElementById("detail");

function made(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

function symbolOf(name) {
  const picture = drawn("svg", { class: `symbol v-${name}`, "aria-hidden": "true" });
  picture.append(drawn("use", { href: `#s-${name}` }));
  return picture;
}

function pill(verdict, text) {
  return made("span", `pill v-${verdict}`, symbolOf(verdict), text || verdict);
}

function pairName(row) {
  return row.peer ? `${row.target} × ${row.peer}` : row.target;
}

function show(title, mark, body, back) {
  const close = made("button", "", "Close");
  close.type = "button";
  close.addEventListener("click", () => dialog.close());
  const heading = made("h2", "", title);
  heading.id = "detail-title";
  dialog.replaceChildren(made("div", "detail-head", mark, heading, back, close), made("div", "detail-body", ...body));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function showSquare(number) {
  const square = payload.squares[number];
  const facts = ["crashed", "fail", "timeout", "error", "warn", "pass", "info", "unsupported"]
    .filter((verdict) => square[verdict]).map((verdict) => pill(verdict, `${square[verdict]} ${verdict}`));
  const body = [made("div", "facts", ...facts, made("span", "tag", `seen ${square.run_date}`), version(square))];
  if (square.culprits && square.culprits.length) body.push(made("h3", "", "Culprit"), made("div", "culprit", square.culprits.join(", ")));
  const shown = square.findings.length, all = square.bad + square.warn;
  if (shown) body.push(made("h3", "", all > shown ? `Findings, ${shown} of ${all}` : "Findings"), findingList(square.findings, number));
  else body.push(made("p", "reason", "Nothing failed here."));
  if (square.groups.length) body.push(made("h3", "", "Groups of cases"), groupTable(square.groups));
  show(`${pairName(square)}, ${square.protocol}`, symbolOf(square.worst), body, null);
}

function version(row) {
  const text = [row.target_version, row.peer_version].filter(Boolean).join(" × ");
  return text ? made("span", "tag", `version ${text}`) : null;
}

function findingList(indices, square) {
  const list = made("ul", "rows");
  for (const index of indices) {
    const row = payload.findings[index];
    const item = made("li", "", pill(row.verdict), made("code", "", row.case), made("span", "muted", row.failure.message || row.note));
    asButton(item, () => showFinding(index, square));
    list.append(item);
  }
  return list;
}

function groupTable(groups) {
  const table = made("table", "group-table");
  for (const group of groups) {
    const marks = Object.keys(group).filter((name) => document.getElementById(`s-${name}`) && group[name]).map((name) => pill(name, String(group[name])));
    table.append(made("tr", "", made("th", "", `${group.role}/${group.group}`), made("td", "facts", ...marks)));
  }
  return table;
}

function showFinding(index, square) {
  const row = payload.findings[index];
  let back = null;
  if (square !== undefined) {
    back = made("button", "", "Back");
    back.type = "button";
    back.addEventListener("click", () => showSquare(square));
  }
  const body = [findingFacts(row), made("p", "reason", row.failure.message || row.note || "No message was recorded.")];
  if (row.failure.message && row.note) body.push(made("p", "muted", row.note));
  body.push(...clauseParts(row), ...againstParts(row), ...culpritParts(row), ...timelineParts(row), ...replayParts(row));
  show(`${pairName(row)} · ${row.case}`, symbolOf(row.verdict), body, back);
}

function findingFacts(row) {
  const tags = [row.kind, row.run_id, row.scenario, row.fault_profile, row.reach && `reached by ${row.reach}`];
  if (row.expected !== "pass") tags.push(row.expected);
  if (row.is_regression) tags.push("new");
  else if (row.changed_on) tags.push(`failing since ${row.changed_on}`);
  if (row.is_flaky) tags.push("flaky");
  if (row.is_lossy) tags.push(`${row.passes} of ${row.trials} repetitions passed`);
  return made("div", "facts", pill(row.verdict), ...tags.filter(Boolean).map((text) => made("span", "tag", text)), version(row));
}

function clauseParts(row) {
  const ids = [...new Set([row.failure.clause, ...row.requirements].filter(Boolean))];
  const parts = ids.length ? [made("h3", "", ids.length > 1 ? "Clauses" : "Clause")] : [];
  for (const id of ids) {
    const known = payload.clauses[id];
    const reading = (id === row.failure.clause && row.failure.reading) || (known && known.reading);
    parts.push(made("div", "clause-text", made("code", "", id), known && known.level ? ` ${known.level} ` : " ", known ? known.text : "",
      reading ? made("div", "muted", `Reading: ${reading}`) : null,
      known && known.contested ? made("div", "muted", `Contested: ${known.contested}`) : null));
  }
  return parts;
}

function againstParts(row) {
  if (!row.failure.expected && !row.failure.observed) return [];
  const { expected, observed } = row.failure;
  const parts = differing(expected, observed);
  const marked = (text, end) => parts ? [text.slice(0, parts.start), made("mark", "", text.slice(parts.start, end)), text.slice(end)] : [text || "nothing"];
  const side = (name, text, end) => made("div", `is-${name}`, made("h3", "", name), made("pre", "", ...marked(text, end)));
  return [made("div", "against", side("expected", expected, parts && parts.expected), side("observed", observed, parts && parts.observed))];
}

// The part in which two texts differ, as on the terminal: none if they have next to nothing in common, of hex whole bytes.
function differing(expected, observed) {
  if (!expected || !observed || expected === observed) return null;
  const most = Math.min(expected.length, observed.length);
  let start = 0, end = 0;
  while (start < most && expected[start] === observed[start]) start++;
  while (end < most - start && expected.at(-1 - end) === observed.at(-1 - end)) end++;
  if (/^([0-9a-f]{2})+\/([0-9a-f]{2})+$/.test(`${expected}/${observed}`)) [start, end] = [start - start % 2, end - end % 2];
  if (start + end < most / 2) return null;
  return { start, expected: expected.length - end, observed: observed.length - end };
}

function culpritParts(row) {
  const words = {
    client: "the client: it also fails against the reference server", server: "the server: it also fails with the reference client",
    both: "both: each fails against the reference", pair: "the combination: each alone works with the reference",
    reference: "the reference fails this case itself", unknown: "unknown: there is no run against the reference to compare with",
  };
  if (!row.culprit) return [];
  const reading = row.reading_along ? made("div", "muted", `Reading along: ${row.reading_along}`) : null;
  return [made("h3", "", "Culprit"), made("div", "culprit", row.culprit_name ? made("strong", "", row.culprit_name) : null, made("span", "", words[row.culprit] || row.culprit)), reading].filter(Boolean);
}

function timelineParts(row) {
  const timeline = row.timeline || [];
  if (!timeline.length) return [];
  const title = row.frames > timeline.length ? `Timeline, the first ${timeline.length} of ${row.frames}` : "Timeline";
  return [made("h3", "", title), made("div", "ladder-box", ladder(timeline))];
}

function replayParts(row) {
  const parts = [];
  if (row.example) parts.push(made("h3", "", row.peer ? "Shortest fault schedule found" : "Shrunk example"), made("div", "replay", made("pre", "", row.example)));
  if (!row.replay) return parts;
  const copy = made("button", "", "Copy");
  copy.type = "button";
  copy.addEventListener("click", () => copyText(row.replay, copy));
  return [...parts, made("h3", "", "See it again"), made("div", "replay", made("pre", "", row.replay), copy)];
}
