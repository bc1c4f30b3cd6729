"""
A headless Firefox with the few methods of a Selenium driver that conftest.Page uses. Selenium would need geckodriver, which
no package registry has as a program; Mozilla's own marionette_driver speaks with Firefox itself.
"""
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# Nothing is asked for that the page does not ask for.
PREFERENCES = {"marionette.port": 0, "app.update.disabledForTesting": True, "app.normandy.enabled": False,
               "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.enabled": False,
               "browser.shell.checkDefaultBrowser": False, "browser.startup.page": 0,
               "browser.newtabpage.enabled": False, "network.captive-portal-service.enabled": False,
               "network.connectivity-service.enabled": False, "extensions.update.enabled": False,
               "services.settings.server": "data:,", "browser.safebrowsing.downloads.remote.enabled": False,
               "layout.css.devPixelsPerPx": "1.0"}


def missing(out):
    """Why there is no Firefox to drive; None: there is."""
    if not shutil.which("firefox-esr") and not shutil.which("firefox"):
        return "firefox-esr is not installed"
    done = subprocess.run([os.path.join(ROOT, "scripts/fetch-python.sh"), "marionette_driver==3.7.1"], stdout=subprocess.PIPE,
                          text=True, env={**os.environ, "O": out})
    if not done.stdout.strip():
        return "marionette_driver could not be fetched"
    if done.stdout.strip() not in sys.path:
        sys.path.append(done.stdout.strip())
    return None


class Firefox:
    """FOLDER is new and holds its profile."""

    def __init__(self, folder):
        from marionette_driver.marionette import Marionette
        with open(os.path.join(folder, "user.js"), "w") as file:
            for name, value in PREFERENCES.items():
                shown = f'"{value}"' if isinstance(value, str) else str(value).lower()
                file.write(f'user_pref("{name}", {shown});\n')
        self.process = subprocess.Popen(
            [shutil.which("firefox-esr") or shutil.which("firefox"), "--headless", "--no-remote", "--marionette", "--remote-allow-system-access",
             "-profile", str(folder)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder), "MOZ_HEADLESS_WIDTH": "1400", "MOZ_HEADLESS_HEIGHT": "1000"})
        try:
            self.marionette = Marionette(host="127.0.0.1", port=self.port(os.path.join(folder, "MarionetteActivePort")),
                                         app="fxdesktop", socket_timeout=60)
            self.marionette.start_session()
            self.marionette.set_window_rect(width=1400, height=1000)
        except Exception:
            self.quit()
            raise

    def port(self, path):
        for _ in range(600):
            if os.path.exists(path):
                with open(path) as file:
                    text = file.read().strip()
                if text:
                    return int(text)
            assert self.process.poll() is None, f"Firefox ended with {self.process.returncode}"
            time.sleep(0.1)
        raise TimeoutError("Firefox did not listen within a minute")

    def get(self, address):
        self.marionette.navigate(address)

    def back(self):
        self.marionette.go_back()

    def execute_script(self, code, *args):
        return self.marionette.execute_script(code, script_args=args, sandbox=None)

    def complaints(self, address):
        """Errors and warnings that Firefox has printed for the page at ADDRESS since the last call."""
        with self.marionette.using_context("chrome"):
            return self.marionette.execute_script("""
                const found = Services.console.getMessageArray().filter((m) => m instanceof Ci.nsIScriptError &&
                  (m.sourceName || '').startsWith(arguments[0])).map((m) => m.errorMessage);
                Services.console.reset();
                return found;""", script_args=[address])

    def drag(self, start, end):
        """With the mouse from point START to END of the window, by way of their middle."""
        from marionette_driver.marionette import ActionSequence
        mouse = ActionSequence(self.marionette, "pointer", "mouse", {"pointerType": "mouse"})
        middle = [(a + b) // 2 for a, b in zip(start, end)]
        mouse.pointer_move(*start).pointer_down().pointer_move(*middle).pointer_move(*end).pointer_up().perform()
        self.marionette.actions.release()

    def press(self, key):
        from marionette_driver.marionette import ActionSequence
        ActionSequence(self.marionette, "key", "keys").key_down(key).key_up(key).perform()

    def quit(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
