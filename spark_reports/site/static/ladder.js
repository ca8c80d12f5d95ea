/* The timeline as a ladder: one life line per side, time downwards, one arrow per frame. */
const SVG = "http://www.w3.org/2000/svg";
const LADDER = { width: 760, left: 62, top: 40, step: 44 };

function drawn(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function ladder(timeline) {
  LADDER.width = Math.max(320, Math.min(760, window.innerWidth - 60));
  const sides = [...new Set(timeline.flatMap((entry) => [entry.sender, entry.receiver]).filter(Boolean))].sort((a, b) => rank(a) - rank(b)).slice(0, 6);
  const height = LADDER.top + LADDER.step * timeline.length + 20;
  const edge = LADDER.width / 11;
  const room = LADDER.width - LADDER.left - 2 * edge;
  const place = (side) => LADDER.left + edge + (sides.length < 2 ? room / 2 : room * Math.max(0, sides.indexOf(side)) / (sides.length - 1));
  const picture = drawn("svg", { class: "ladder", viewBox: `0 0 ${LADDER.width} ${height}`, role: "img", "aria-label": "Timeline of both sides" });
  for (const side of sides) {
    picture.append(drawn("line", { class: "life", x1: place(side), x2: place(side), y1: LADDER.top - 12, y2: height - 8 }));
    picture.append(drawn("text", { class: "lane", x: place(side), y: 18 }, shortened(side, Math.floor(LADDER.width / (8 * sides.length)))));
  }
  timeline.forEach((entry, index) => picture.append(rung(entry, LADDER.top + LADDER.step * index + 22, place, sides)));
  return picture;
}

/* Of a pair the client stands left, the proxy in the middle; all others stand in the order in which they speak. */
function rank(side) {
  return side.endsWith("(client)") ? -2 : side === "proxy" ? -1 : 0;
}

function rung(entry, y, place, sides) {
  const group = drawn("g", { class: sides.indexOf(entry.sender) > sides.indexOf(entry.receiver) ? "rung is-back" : "rung" });
  group.append(drawn("title", {}, `${entry.kind}: ${entry.text}`));
  group.append(drawn("text", { class: "time", x: 6, y: y + 4 }, `${((entry.t || 0) * 1000).toFixed(1)} ms`));
  const from = place(entry.sender), to = place(entry.receiver);
  if (from === to) return noteOn(group, entry, from, y);
  const way = Math.sign(to - from), middle = (from + to) / 2;
  const letters = Math.floor(Math.abs(to - from) / 7.2);
  group.append(drawn("line", { class: "arrow", x1: from, x2: to - 7 * way, y1: y, y2: y }));
  group.append(drawn("path", { class: "head", d: `M${to} ${y}l${-9 * way} -4.5v9z` }));
  group.append(drawn("text", { class: "label", x: middle, y: y - 6 }, shortened(entry.text || entry.kind, letters)));
  const bytes = [entry.size ? `${entry.size} B` : "", entry.raw || ""].filter(Boolean).join("  ");
  if (bytes) group.append(drawn("text", { class: "raw", x: middle, y: y + 13 }, shortened(bytes, letters)));
  return group;
}

function noteOn(group, entry, x, y) {
  const text = shortened(entry.text || entry.kind, 46);
  const width = Math.max(60, text.length * 7.1 + 16);
  const start = Math.max(LADDER.left, Math.min(x - width / 2, LADDER.width - width - 4));
  group.append(drawn("rect", { class: "note", x: start, y: y - 13, width, height: 22, rx: 5 }));
  group.append(drawn("text", { class: "label", x: start + width / 2, y: y + 2 }, text));
  return group;
}

function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}
