import pytest
from page_browser import PageStudio, Visitor, browser_running, need_browser
from studio_server import Studio


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    """One studio for many tests; each test opens what it needs."""
    with Studio(tmp_path_factory.mktemp("studio")) as made:
        yield made


@pytest.fixture
def client(studio):
    made = studio.client()
    yield made
    made.close()


@pytest.fixture(scope="session")
def page_studio(tmp_path_factory):
    """One studio with the page that was built, started by the command."""
    need_browser()
    with PageStudio(tmp_path_factory.mktemp("page")) as made:
        yield made


@pytest.fixture(scope="session")
def browser():
    need_browser()
    with browser_running() as made:
        yield made


@pytest.fixture
def visitor(browser, page_studio):
    """A person at the page. At the end the console of the browser has no error."""
    made = Visitor(browser, page_studio)
    yield made
    errors = made.errors
    made.close()
    assert errors == []
