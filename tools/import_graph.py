"""Print which part of the package imports which, and fail on a cycle between modules.

Every import counts: at the top of a module, inside a function, and of a package by one of its own
submodules. Each name is printed above the names it imports. Folders that import each other are
marked; import-linter decides whether they may.

Run ``python tools/import_graph.py`` for the folders, and with ``--modules`` for all modules.
"""

import ast
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
PACKAGE = "pacfourier"


def package_graph(source=SOURCE, package=PACKAGE):
    """Return the modules of a package, each with the set of modules it imports.

    Parameters
    ----------
    source : path
        The folder that contains the package.
    package : str

    Returns
    -------
    graph : dict of str to set of str
    """
    paths = {module_name(path, source): path for path in (source / package).rglob("*.py")}
    return {
        name: imported_modules(ast.parse(path.read_text()), name, path, paths.keys()) - {name}
        for name, path in sorted(paths.items())
    }


def module_name(path, source):
    """Return the dotted name of the module in a file."""
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(tree, name, path, modules):
    """Return the modules of the package that the source of one module imports."""
    home = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(known(alias.name, modules) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = home[: len(home) - node.level + 1] if node.level else []
            base = ".".join([*prefix, *([node.module] if node.module else [])])
            found.update(known(f"{base}.{alias.name}", modules) for alias in node.names)
    return found - {None}


def known(name, modules):
    """Return the module that an imported name is, or is part of; None if of another package."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def components(graph):
    """Return the groups of names that reach each other, imported groups first (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            position = stack.index(name)
            found.append(sorted(stack[position:]))
            del stack[position:]

    for name in graph:
        if name not in index:
            visit(name)
    return found


def cycle_in(graph, group):
    """Return a shortest cycle through the first name of a group, which is also the last one."""
    start, paths = group[0], [[group[0]]]
    for path in paths:
        for other in sorted(graph[path[-1]] & set(group)):
            if other == start:
                return [*path, start]
            if other not in path:
                paths.append([*path, other])
    raise AssertionError(f"{start} is in no cycle")


def layers(graph):
    """Return names in layers: each name imports only names of lower layers, or of its group."""
    level, rows = {}, {}
    for group in components(graph):
        below = [level[other] for name in group for other in graph[name] if other in level]
        height = max(below, default=-1) + 1
        level.update(dict.fromkeys(group, height))
        rows.setdefault(height, []).extend(group)
    return [sorted(rows[height]) for height in sorted(rows, reverse=True)]


def folder_graph(graph):
    """Return the graph between the top-level folders and modules of the package."""
    folders = {name: ".".join(name.split(".")[:2]) for name in graph}
    merged = {folder: set() for folder in folders.values()}
    for name, imported in graph.items():
        merged[folders[name]].update(folders[other] for other in imported)
    return {name: imported - {name} for name, imported in merged.items()}


def printed(graph):
    """Return the layers of a graph as text, one line per name."""
    lines = []
    for row in layers(graph):
        for name in row:
            names = ", ".join(map(short, sorted(graph[name])))
            lines.append(f"  {short(name):<14} {'-> ' + names if names else ''}".rstrip())
        lines.append("")
    return "\n".join(lines[:-1])


def cycles(graph):
    """Return one cycle for each group of names that import each other."""
    return [cycle_in(graph, group) for group in components(graph) if len(group) > 1]


def short(name):
    """Return a name without the name of the package in front."""
    return name.removeprefix(f"{PACKAGE}.")


def arrows(cycle):
    """Return a cycle as text."""
    return " -> ".join(map(short, cycle))


def main(arguments):
    """Print the graph and its cycles; return the exit status."""
    graph = package_graph()
    shown = graph if "--modules" in arguments else folder_graph(graph)
    print(printed(shown), end="\n\n")
    for cycle in cycles(folder_graph(graph)):
        print(f"Folders that import each other: {arrows(cycle)}")
    found = cycles(graph)
    for cycle in found:
        print(f"Cycle of modules: {arrows(cycle)}")
    print(f"{len(graph)} modules, {len(found)} cycles of modules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
