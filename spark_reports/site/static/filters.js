"use strict";
/* Filters hide rows and fade squares; what they chose stands in the address, so that a view can be passed on. */
const filterForm = document.getElementById("filters");

function chosenFilters() {
  const form = new FormData(filterForm);
  return Object.fromEntries([...form].map(([name, value]) => [name, value.trim()]));
}

function fits(element, filters) {
  const data = element.dataset;
  const clause = filters.clause.toLowerCase();
  if (filters.protocol && data.protocol !== filters.protocol) return false;
  if (filters.target && data.target !== filters.target && data.peer !== filters.target) return false;
  if (filters.verdict && data.verdicts && !data.verdicts.split(" ").includes(filters.verdict)) return false;
  if (clause && data.clauses !== undefined) return data.clauses.toLowerCase().split(" ").some((id) => id.startsWith(clause));
  return true;
}

function applyFilters() {
  const filters = chosenFilters();
  for (const row of document.querySelectorAll(".rows li[data-protocol]")) row.hidden = !fits(row, filters);
  for (const square of document.querySelectorAll("button.square")) square.classList.toggle("is-faded", !fits(square, filters));
  for (const card of document.querySelectorAll(".card[data-protocol]")) card.hidden = Boolean(filters.protocol) && card.dataset.protocol !== filters.protocol;
  for (const head of document.querySelectorAll("#matrix > .scroller thead th[data-head]")) hideColumn(head, filters.protocol);
  for (const row of document.querySelectorAll("#matrix > .scroller tr[data-row]")) row.hidden = Boolean(filters.target) && row.dataset.row !== filters.target;
  for (const line of document.querySelectorAll(".line[data-target]")) line.classList.toggle("is-faded", Boolean(filters.target) && line.dataset.target !== filters.target);
  for (const clause of document.querySelectorAll(".clause")) clause.classList.toggle("is-chosen", Boolean(filters.clause) && clause.dataset.clause.toLowerCase().startsWith(filters.clause.toLowerCase()));
  const findings = [...document.querySelectorAll("li[data-finding]")];
  document.getElementById("matches").value = `${findings.filter((row) => !row.hidden).length} of ${findings.length} findings`;
}

function hideColumn(head, protocol) {
  const hide = Boolean(protocol) && head.dataset.head !== protocol;
  for (const row of head.closest("table").rows) row.cells[head.cellIndex].hidden = hide;
}

function setFilter(name, value) {
  filterForm.elements[name].value = value;
  applyFilters();
}
