import pytest
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
