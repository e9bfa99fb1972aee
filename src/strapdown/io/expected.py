"""Valid values of a field of a file, from the error of its type check: the words behind "give"."""

from typing import Any

_PLAIN = {
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of at most 64 bits",
    "int_from_float": "a whole number",
    "string_type": "a text in quotes",
    "string_too_short": "a text that is not empty",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_LIMITS = {"gt": "above", "ge": "of at least", "lt": "below", "le": "of at most"}


def expected(complaint: Any) -> str:
    """The valid value, in words.

    complaint: one entry of errors() of a pydantic ValidationError.
    """
    kind, context = complaint["type"], complaint.get("ctx") or {}
    if kind in ("list_type", "tuple_type") and isinstance(complaint["input"], dict) and complaint["loc"]:
        return f"a list of tables: write [[{complaint['loc'][-1]}]]"
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind == "literal_error":
        return str(context["expected"])
    for limit, words in _LIMITS.items():
        if limit in context:
            return f"a number {words} {context[limit]:g}"
    if kind in ("too_long", "too_short") and ("max_length" in context or "min_length" in context):
        most, least = context.get("max_length"), context.get("min_length")
        return f"at most {most} values" if most is not None else f"at least {least} values"
    return f"another value ({complaint['msg'][0].lower()}{complaint['msg'][1:]})"
