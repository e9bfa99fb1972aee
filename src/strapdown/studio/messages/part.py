"""Base of all that a message of the server has."""

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Base of all parts of a message."""

    model_config = ConfigDict(frozen=True)
