"""Two import contracts that go by names, so that a protocol that is added is covered without a word here or in pyproject.toml."""

from __future__ import annotations

from fnmatch import fnmatchcase

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class Named(Contract):
    """Each import that a rule over names forbids, one a line."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        wrong = [
            f"{module} imports {imported}"
            for module in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(module))
            if self.forbids(module, imported)
        ]
        return ContractCheck(kept=not wrong, metadata={"wrong": wrong})

    def forbids(self, module: str, imported: str) -> bool:
        raise TypeError(type(self))

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["wrong"]:
            output.print_error(line)


class Pure(Named):
    """What a package has beside its shells imports neither those nor what does I/O: so nothing impure, by any way round."""

    type_name = "pure"
    package = fields.StringField()
    shells = fields.SetField(subfield=fields.StringField())  # patterns of module names
    forbidden = fields.SetField(subfield=fields.StringField())  # packages of others

    def forbids(self, module: str, imported: str) -> bool:
        return self._is_pure(module) and (self._is_shell(imported) or imported.split(".")[0] in self.forbidden)

    def _is_pure(self, module: str) -> bool:
        return is_in(module, self.package) and not self._is_shell(module)

    def _is_shell(self, module: str) -> bool:
        return any(fnmatchcase(module, pattern) for pattern in self.shells)


class Apart(Named):
    """These packages know of ours only themselves and what is listed."""

    type_name = "apart"
    packages = fields.SetField(subfield=fields.StringField())
    known = fields.SetField(subfield=fields.StringField(), default=set())

    def forbids(self, module: str, imported: str) -> bool:
        at_home = next((package for package in self.packages if is_in(module, package)), None)
        ours = imported.split(".")[0] in self.session_options["root_packages"]
        return bool(at_home) and ours and not is_in(imported, at_home) and imported not in self.known


def is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
