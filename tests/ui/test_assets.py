"""The page's script: joined from modules, refused where the joining would go wrong."""

import pytest

from specviz import bundle
from specviz.ui import assets


def write(folder, **modules):
    for name, code in modules.items():
        (folder / f"{name}.js").write_text(code, encoding="utf-8")
    return folder / "main.js"


def test_modules_come_after_what_they_import_and_only_once(tmp_path):
    main = write(
        tmp_path,
        main="import { b } from './b.js';\nimport { c } from './c.js';\nglobalThis.X = b + c;",
        b="import { c } from './c.js';\nexport const b = c + 1;",
        c="export const c = 1;",
    )
    assert [file.name for file in bundle.modules(main)] == ["c.js", "b.js", "main.js"]
    code = bundle.bundle(main)
    assert "import" not in code
    assert "export" not in code
    assert code.index("const c = 1") < code.index("const b = c + 1") < code.index("globalThis.X")


@pytest.mark.parametrize(
    ("b", "why"),
    [
        ("export const a = 2;", "declared in"),
        ("export default 3;", "cannot bundle"),
        ("import * as c from './c.js';", "cannot bundle"),
        ("import c from './c.js';", "cannot bundle"),
        ("export { a };", "cannot bundle"),
        ("import { a } from './main.js';", "imports itself"),
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path, b, why):
    main = write(tmp_path, main="import { b } from './b.js';\nconst a = 1;", b=b, c="export const c = 1;")
    with pytest.raises(ValueError, match=why):
        bundle.bundle(main)


def test_the_page_has_its_scripts_and_words():
    head = assets.head()
    for part in ("SpecvizStrings", "Specviz =", "SpecvizLessons =", "SpecvizApp ="):
        assert f"globalThis.{part}" in head
    assert "推测解码" in head
    assert head.count("<script>") == head.count("</script>") == 1 + len(assets.ENTRIES)


def test_words_cannot_end_the_script():
    assert "<" not in bundle.script_json({"a": "</script><script>alert(1)</script>"})
