/* Wires the page: what was rendered as a list of rows and squares becomes something one can ask. */
function asButton(element, action) {
  element.tabIndex = 0;
  element.setAttribute("role", "button");
  element.addEventListener("click", action);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    action();
  });
}

function copyText(text, button) {
  const done = () => { button.textContent = "Copied"; };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => { button.textContent = "Select and copy"; });
}

function openChange(row) {
  const wanted = row.dataset;
  const index = payload.findings.findIndex((item) => item.case === wanted.openCase && item.target === wanted.target && item.peer === wanted.peer && item.protocol === wanted.protocol);
  if (index >= 0) showFinding(index);
}

filterForm.addEventListener("input", applyFilters);
filterForm.addEventListener("reset", () => { filterForm.querySelectorAll("select, input").forEach((field) => { field.value = ""; }); applyFilters(); });
filterForm.addEventListener("submit", (event) => event.preventDefault());
for (const square of document.querySelectorAll("[data-square]")) square.addEventListener("click", () => showSquare(Number(square.dataset.square)));
for (const row of document.querySelectorAll("[data-finding]")) asButton(row, () => showFinding(Number(row.dataset.finding)));
for (const row of document.querySelectorAll("[data-open-case]")) asButton(row, () => openChange(row));
for (const clause of document.querySelectorAll(".clause")) clause.addEventListener("click", () => setFilter("clause", filterForm.elements.clause.value === clause.dataset.clause ? "" : clause.dataset.clause));
for (const button of document.querySelectorAll("[data-choose-verdict]")) button.addEventListener("click", () => setFilter("verdict", button.dataset.chooseVerdict));
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
applyFilters();
