"""A page in a browser without a window, as tests see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.remote.webelement import WebElement

_MEASURES: Final = Path(__file__).with_name("measures.js").read_text(encoding="utf-8")
_ARGUMENTS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def start_browser(program: str, driver: str, profile: Path) -> webdriver.Chrome:
    """Start a browser with an empty profile that asks nothing of the network."""
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in (*_ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


class OpenPage:
    """A page that is open in a browser, at a width and in a colour scheme."""

    def __init__(self, browser: webdriver.Chrome, path: Path, width: int = 1280, scheme: str = "light") -> None:
        self._browser = browser
        browser.get("about:blank")
        self.set_media("", width, scheme)
        browser.get_log("browser")  # what the page before said
        browser.get(path.as_uri())
        browser.execute_script(_MEASURES)

    def set_media(self, media: str, width: int = 1280, scheme: str = "light") -> None:
        """Show the page on another medium, at another width, in another scheme."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [feature]})

    def run(self, script: str) -> Any:
        """Run JavaScript in the page."""
        return self._browser.execute_script(script)

    def measure(self, what: str) -> Any:
        """Return what a function of `measures.js` returns, once the page stands still."""
        self.run("document.getAnimations().forEach((one) => one.finish())")
        return self.run(f"return measure.{what}()")

    def find(self, selector: str) -> list[WebElement]:
        """Return the elements that a selector of CSS chooses."""
        return self._browser.find_elements("css selector", selector)

    def seen(self, selector: str) -> list[str]:
        """Return the texts of the chosen elements that are shown."""
        return [one.text for one in self.find(selector) if one.is_displayed()]

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, whatever has the focus."""
        ActionChains(self._browser).send_keys(*keys).perform()

    def problems(self) -> list[str]:
        """Return what the page has complained about on the console of the browser."""
        return [entry["message"] for entry in self._browser.get_log("browser") if entry["level"] != "INFO"]
