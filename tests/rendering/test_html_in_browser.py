"""The report in a real browser: what it shows, what its controls do, and that hostile text stays text."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opscan.assessment import Assessment
from opscan.rendering.html import render_html
from opscan.rendering.interface import Messages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

pytestmark = pytest.mark.browser

Open = Callable[..., "Page"]


def _chromium() -> str | None:
    debian = Path("/usr/bin/chromium")
    return str(debian) if debian.exists() else shutil.which("chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    executable = _chromium()
    if executable is None:
        pytest.skip("there is no chromium at /usr/bin/chromium or on the path")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a page from the disk. At the end, whatever the page complained about or tried to load fails the test."""
    problems: list[str] = []
    contexts = []

    def dismiss(dialog: Dialog) -> None:
        problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def refuse(url: str) -> None:
        if not url.startswith(("file:", "data:")):
            problems.append(f"request: {url}")

    def open_page(source: str, **options: object) -> Page:
        file = tmp_path / "report.html"
        file.write_text(source, encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("dialog", dismiss)
        page.on("request", lambda request: refuse(request.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def _visible_rows(page: Page) -> list[str]:
    return [row.get_attribute("id") or "" for row in page.locator(".op:visible").all()]


def _overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def test_verdicts_are_visible(show: Open, sample: Assessment) -> None:
    page = show(render_html(sample))
    assert page.locator(".verdict-sentence").inner_text() == (
        "The model is not ready for ascend910b: 1 of its 6 operators is unsupported."
    )
    badges = page.locator(".op summary .badge").all_inner_texts()
    assert badges == ["unsupported", "fallback", "slow", "unknown", "unknown", "supported"]
    assert page.locator("#shown").inner_text() == "6 of 6 operators shown"


def test_filters(show: Open, sample: Assessment) -> None:
    page = show(render_html(sample))
    page.locator("[data-filter=verdict][data-value=unknown]").click()
    assert _visible_rows(page) == ["op-4", "op-5"]
    page.locator("[data-filter=phase][data-value=backward]").click()
    assert _visible_rows(page) == ["op-5"]
    assert page.locator("#shown").inner_text() == "1 of 6 operators shown"
    page.locator("#reset").click()
    assert len(_visible_rows(page)) == 6
    page.locator("#search").fill("aclnnINDEX layers.1")
    page.locator("#op-6").wait_for(state="hidden")
    assert _visible_rows(page) == ["op-1"]
    page.locator("#search").fill("no such operator")
    page.locator("#nothing").wait_for(state="visible")
    assert _visible_rows(page) == []


def test_sorting(show: Open, sample: Assessment) -> None:
    page = show(render_html(sample))
    calls = page.locator("[data-sort=calls]")
    calls.click()
    assert _visible_rows(page)[:2] == ["op-6", "op-1"]
    assert calls.get_attribute("aria-pressed") == "true"
    calls.click()
    assert _visible_rows(page)[-1] == "op-6"
    page.locator("[data-sort=operator]").click()
    assert page.locator(".op:visible .operator .name").all_inner_texts()[0] == "aten::addmm"
    page.locator("[data-sort=verdict]").click()
    assert _visible_rows(page) == [f"op-{number}" for number in range(1, 7)]


def test_a_row_opens_with_the_keyboard(show: Open, sample: Assessment) -> None:
    page = show(render_html(sample))
    page.locator("#op-1 summary").focus()
    page.keyboard.press("Enter")
    body = page.locator("#op-1 .op-body")
    assert body.is_visible()
    assert "torch.stack((real * cos" in body.inner_text()
    page.locator("#close-all").click()
    assert not body.is_visible()


def test_a_link_to_a_hidden_row_shows_it(show: Open, sample: Assessment) -> None:
    page = show(render_html(sample))
    page.locator("[data-filter=verdict][data-value=supported]").click()
    page.locator("#blockers a[href='#op-1']").click()
    page.locator("#op-1 .op-body").wait_for(state="visible")


def test_language_switch(show: Open, sample: Assessment, messages: Messages) -> None:
    page = show(render_html(sample, messages=messages))
    assert page.locator("#ops-title").inner_text() == "Operators"
    page.locator("[data-lang=zh-CN]").click()
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    assert page.locator("#ops-title").inner_text() == "算子"
    assert page.locator("#shown").inner_text() == "显示 6 / 6 个算子"
    assert page.locator("#op-1 .reason").inner_text() == "aclnnIndex 的参数 self 未列出 complex64"
    assert page.locator("#op-5 .reason").inner_text() == "registered, but never observed at these dtypes"
    assert "迁移至" in page.title()
    page.locator("[data-lang=en]").click()
    assert page.locator("#ops-title").inner_text() == "Operators"


def test_opens_in_chinese(show: Open, sample: Assessment) -> None:
    page = show(render_html(sample, "zh"))
    assert page.locator("#ops-title").inner_text() == "算子"
    assert page.locator("[data-lang=zh-CN]").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("kind", ["sample", "hostile"])
def test_nothing_runs_over_the_edge(show: Open, request: pytest.FixtureRequest, width: int, kind: str) -> None:
    page = show(render_html(request.getfixturevalue(kind)), viewport={"width": width, "height": 900})
    page.locator("#open-all").click()
    assert _overflow(page) <= 0


def test_without_javascript_all_is_there(show: Open, sample: Assessment) -> None:
    page = show(render_html(sample), java_script_enabled=False)
    assert not page.locator(".controls").is_visible()
    assert not page.locator(".languages").is_visible()
    assert page.locator(".op:visible").count() == 6
    page.locator("#op-1 summary").click()
    assert page.locator("#op-1 .op-body").is_visible()
    assert page.locator(".verdict-sentence").inner_text().startswith("The model is not ready")


def test_hostile_text_is_inert(show: Open, hostile: Assessment, sample: Assessment) -> None:
    page = show(render_html(hostile))
    page.locator("#open-all").click()
    assert page.locator("img, iframe, object, form").count() == 0
    assert page.locator("script").count() == 1
    assert page.locator("#op-list > *").count() == 2
    assert page.locator("#op-1 .operator .name").inner_text().startswith("<img src=x onerror=alert(1)><script>")


#: WCAG 2 contrast of every visible text with the nearest opaque background.
_CONTRAST = """() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const bad = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.add(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
  }
  return [...bad];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(show: Open, sample: Assessment, scheme: str) -> None:
    page = show(render_html(sample), color_scheme=scheme)
    page.locator("#open-all").click()
    page.locator("[data-filter=verdict]").first.click()
    assert page.evaluate(_CONTRAST) == []
