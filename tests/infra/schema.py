#!/usr/bin/env python3
"""Writes `schema.json`: what the AWS provider's schema says of the types that `infra/` uses.

The provider itself cannot be asked without its binary, but the bindings that were generated from its schema can be read:
the npm package `@cdktf/provider-aws`, whose JavaScript has every argument with its snake-case name, type and nesting, and
whose declarations say which are required. What gets lost in them: whether an optional argument is also computed, and
which changes replace.

usage: tests/infra/schema.py [FOLDER]    FOLDER has the package unpacked; without it, npm fetches the package
"""

import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

PACKAGE = "@cdktf/provider-aws@21.22.1"
HERE = pathlib.Path(__file__).parent
INFRA = HERE / "../../infra"

# What `infra/` uses that the provider has got since the package's version, the last one that was published.
LATER = {
    # 6.29.0, https://github.com/hashicorp/terraform-provider-aws/pull/44858
    "aws_lambda_permission": {"invoked_via_function_url": ["bool", "optional"]},
}
STANDS_FOR = "6.29.0"

SIMPLE = {"string": "string", "number": "number", "boolean": "bool", "any": "dynamic"}
GETTERS = {
    "getStringAttribute": "string",
    "getNumberAttribute": "number",
    "getBooleanAttribute": "bool",
    "getListAttribute": ["list", "string"],
    "getNumberListAttribute": ["list", "number"],
    "getStringMapAttribute": ["map", "string"],
}
# One argument as `…ToHclTerraform` and `synthesizeHclAttributes` write it.
ARGUMENT = re.compile(
    r'^\s+(\w+): \{\s+value: (.*),\s+isBlock: (true|false),\s+type: "(\w+)",\s+storageClassType: "(\w+)",', re.M
)
COMPUTED = re.compile(
    r"// (\w+) - computed: true, optional: false, required: false\s+get \w+\(\) \{\s+return (.*);"
)
# `readonly hashKey: string;` below a link that ends in the argument's name.
DECLARED = re.compile(r"#(\w+) \w+#\w+\}[^/]*\*/\s+readonly \w+(\?)?:")


class Bindings:
    """The bindings of one type."""

    def __init__(self, folder):
        self.script = (folder / "index.js").read_text()
        self.declarations = (folder / "index.d.ts").read_text()

    def top(self):
        """The type's own attributes and blocks."""
        arguments = self.script[self.script.rindex("synthesizeHclAttributes() {"):]
        config = re.search(r"export interface (\w+Config(?= extends)|AwsProviderConfig)", self.declarations).group(1)
        body = self.body(arguments, config)
        own_class = self.script[self.script.rindex("\nclass "):]
        for name, value in COMPUTED.findall(own_class):
            body["attributes"].setdefault(name, [getter_type(value), "computed"])
        for name in ("id", "tags_all"):
            if name in body["attributes"]:
                body["attributes"][name][1] = "computed"
        return body

    def nested(self, converter):
        """The attributes and blocks of a struct, by the function that converts it."""
        arguments = self.script.split(f"function {converter}(struct) {{", 1)[1].split("\nfunction ", 1)[0].split("\nclass ", 1)[0]
        interface = converter[0].upper() + converter[1:].removesuffix("ToHclTerraform")
        return self.body(arguments, interface)

    def body(self, arguments, interface):
        required = self.required(interface)
        body = {"attributes": {}, "blocks": {}}
        for name, value, is_block, kind, storage in ARGUMENT.findall(arguments):
            converter = re.search(r"(\w+ToHclTerraform)", value.replace("cdktf.", ""))
            if is_block == "true" and converter and f"function {converter.group(1)}(" in self.script:
                block = {"nesting": "single" if kind == "struct" else kind}
                # 0 means any number; a single block is one by itself.
                block["most"] = 0 if "listMapperHcl" in value or kind == "struct" else 1
                block["least"] = 1 if name in required else 0
                body["blocks"][name] = block | {"body": self.nested(converter.group(1))}
            else:
                body["attributes"][name] = [argument_type(kind, storage), "required" if name in required else "optional"]
        return body

    def required(self, interface):
        found = re.search(rf"export interface {interface}\b[^{{]*\{{(.*?)^\}}", self.declarations, re.M | re.S)
        if not found:
            raise SystemExit(f"the bindings do not declare {interface}")
        return {name for name, optional in DECLARED.findall(found.group(1)) if not optional}


def argument_type(kind, storage):
    if kind == "simple":
        return SIMPLE[storage]
    element = re.fullmatch(r"(string|number|boolean)(List|Map)", storage)
    if not element:
        raise SystemExit(f"an argument of type {kind} of {storage} is new to this script")
    return [kind, SIMPLE[element.group(1)]]


def getter_type(value):
    method = re.search(r"this\.(get\w+Attribute)\(", value)
    if not method:
        raise SystemExit(f"a computed attribute that is read by {value} is new to this script")
    ty = GETTERS[method.group(1)]
    return ["set", ty[1]] if "Fn.tolist" in value else ty


def used():
    """The types that the code uses: `resource` and `data`."""
    pattern = re.compile(r'^(resource|data) "(aws_\w+)"', re.M)
    found = {"resource": set(), "data": set()}
    for path in INFRA.rglob("*.tf"):
        for kind, name in pattern.findall(path.read_text()):
            found[kind].add(name)
    return found


def folder_of(kind, name):
    plain = name.removeprefix("aws_").replace("_", "-")
    return f"data-aws-{plain}" if kind == "data" else plain


def fetched(into):
    subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=into, check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(next(pathlib.Path(into).glob("*.tgz"))) as archive:
        archive.extractall(into, filter="data")
    return pathlib.Path(into) / "package"


def schema(package):
    provider = json.loads((package / "package.json").read_text())["cdktf"]["provider"]
    types = used()
    made = {"package": PACKAGE, "version": provider["version"], "stands_for": STANDS_FOR}
    made["provider"] = Bindings(package / "lib/provider").top()
    for kind, key in (("resource", "resources"), ("data", "data")):
        made[key] = {name: Bindings(package / "lib" / folder_of(kind, name)).top() for name in sorted(types[kind])}
    for name, attributes in LATER.items():
        made["resources"][name]["attributes"] |= attributes
    return made


def main():
    with tempfile.TemporaryDirectory() as temporary:
        package = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else fetched(temporary)
        text = json.dumps(schema(package), separators=(",", ":"), sort_keys=True)
    # One line for each type, so that a change can be read.
    text = re.sub(r'("aws_\w+":\{"attributes")', r"\n\1", text)
    (HERE / "schema.json").write_text(text + "\n")


main()
