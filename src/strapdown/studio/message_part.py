"""Base of all that a message of the server has."""

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Base of all that a message has."""

    model_config = ConfigDict(frozen=True)
