# SPDX-License-Identifier: Apache-2.0
# The Spack recipe, read without Spack, which comes with no package manager: every word of Spack that it uses is replaced by
# one that remembers. A variable that CMake does not know, or a clone that is not found, would show on nobody's machine but a
# user's.
"""usage: spack_recipe.py RECIPE CMakeCache.txt"""
import pathlib
import re
import sys
import types


class Anything(str):
    """A path, a version, a part of a spec: whatever is asked of it."""

    def __getattr__(self, name):
        return Anything(f"{self}/{name}")


class CMakePackage:
    spec = {name: Anything(name) for name in ("mpi", "llvm-openmp")}
    variants = set()

    @staticmethod
    def define(name, value):
        return name, value

    def define_from_variant(self, name, variant):
        assert variant in self.variants, f"{name} is taken from the variant {variant}, which is not declared"
        return name, variant


def main(recipe, cache):
    directives = []
    package = types.ModuleType("spack.package")
    package.CMakePackage = CMakePackage
    package.join_path = lambda *parts: "/".join(parts)
    for name in ("license", "version", "variant", "depends_on", "requires", "conflicts"):
        setattr(package, name, lambda *words, _name=name, **named: directives.append((_name, words, named)))
    sys.modules |= {"spack": types.ModuleType("spack"), "spack.package": package}

    names = {"__file__": recipe}
    exec(compile(pathlib.Path(recipe).read_text(encoding="utf-8"), recipe, "exec"), names)
    commtask = names["Commtask"]()
    commtask.variants |= {words[0] for name, words, _ in directives if name == "variant"}
    known = set(re.findall(r"^(\w+):", pathlib.Path(cache).read_text(encoding="utf-8"), re.M))
    unknown = [name for name, _ in commtask.cmake_args() if name not in known]
    if unknown:
        raise SystemExit(f"CMake does not know {unknown}")
    source = pathlib.Path(names["Commtask"].git.removeprefix("file://"))
    if not (source / "runtime" / "libcommtask.map").exists():
        raise SystemExit(f"{source} is not the source")
    needed = {words[0].split("@")[0] for name, words, _ in directives if name == "depends_on"}
    if not {"mpi", "hwloc", "llvm-openmp", "cmake"} <= needed:
        raise SystemExit(f"dependences: {sorted(needed)}")
    too_long = [line for line in pathlib.Path(recipe).read_text(encoding="utf-8").splitlines() if len(line) > 99]
    if too_long:
        raise SystemExit(f"longer than Spack's 99 columns: {too_long}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
