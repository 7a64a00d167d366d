"""The pictures of the README, from the real pages: `make pictures`."""

from tests.conformance.web.conftest import launched, served
from tests.conformance.web.test_play_page import SEVEN, VALVE, place
from tests.paths import ROOT

FOLDER = ROOT / "docs" / "pictures"
WIDTH = 1240


def main():
    FOLDER.mkdir(exist_ok=True)
    with launched() as browser, served() as address:
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": WIDTH, "height": 1000}, color_scheme=scheme, reduced_motion="reduce"
            )
            page.goto(address + place("valve", VALVE, SEVEN))
            page.locator(".lanes").wait_for()
            bottom = page.locator(".picture").bounding_box()
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": bottom["y"] + bottom["height"] + 20}
            path = FOLDER / f"playground-{scheme}.png"
            page.screenshot(path=path, clip=clip)
            print(path.relative_to(ROOT))
            page.close()


if __name__ == "__main__":
    main()
