"""Wrong use of a command as one sentence: what is wrong, in which command, what to do. Help without line breaks."""

import difflib
import inspect
import re
from collections.abc import Sequence
from typing import Any

import typer


def is_wrong_use(error: BaseException) -> bool:
    """Whether the option parser has raised it."""
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def sentence(error: Any, command: Any, words: Sequence[str]) -> str:
    """One sentence on a command that was used wrongly.

    command: the root of all commands. words: what the user has typed behind its name. The result is empty if help has
    been shown.
    """
    found, names = _command(command, words)
    name, see = " ".join(names) or "strapdown", f"see {' '.join(('strapdown', *names))} --help"
    if hasattr(error, "possibilities"):
        near = difflib.get_close_matches(error.option_name, _options(found))
        return f"{name} has no option {error.option_name}; " + (f"did you mean {near[0]}? Or {see}" if near else see)
    if hasattr(error, "option_name"):
        if "not take" in error.message:
            return f"{error.option_name} takes no value; write it alone, {see}"
        return f"{error.option_name} has no value; give one behind it, {see}"
    parameter = getattr(error, "param", None)
    if parameter is not None and hasattr(error, "param_type"):
        about = (getattr(parameter, "help", "") or "").strip().rstrip(".")
        return f"{name} needs {_shown(parameter)}{f' ({_inner(about)})' if about else ''}; give it, {see}"
    if parameter is not None:
        given, wanted = _given(error)
        return f"{_shown(parameter)} is {given}; give {wanted}, {see}"
    message = error.format_message()
    if hasattr(found, "commands") and "command" in message and (typed := re.search(r"'(.*)'", message)):
        return f'{name} has no command "{typed.group(1)}"; valid names: {", ".join(found.commands)}'
    if extra := re.search(r"unexpected extra argument.*\((.*)\)", message):
        takes = " ".join(_shown(p) for p in found.params if p.param_type_name == "argument")
        return f'{name} takes {takes or "no argument"}; "{extra.group(1)}" is too much, put names with spaces in quotes'
    return f"{name}: {message.rstrip('.')}; {see}" if message else ""


def _command(command: Any, words: Sequence[str]) -> tuple[Any, list[str]]:
    """The command named by the words, and its names below strapdown."""
    names: list[str] = []
    for word in words:
        if word in getattr(command, "commands", {}):
            command = command.commands[word]
            names.append(word)
        elif not word.startswith("-"):
            break
    return command, names


def _options(command: Any) -> list[str]:
    return [option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)]


def _shown(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    longest = max(parameter.opts, key=len)
    return f"{longest} {parameter.metavar}" if parameter.metavar and parameter.required else longest


def _inner(text: str) -> str:
    """Text for use within brackets, without its own."""
    return re.sub(r"\s*\([^)]*\)", "", text[:1].lower() + text[1:])


def _given(error: BaseException) -> tuple[str, str]:
    """The value that the user wrote and the expected one, if the check of the value states them."""
    from strapdown.io.expected import expected

    cause: BaseException | None = error
    while cause is not None:
        if hasattr(cause, "errors"):
            complaint = cause.errors()[0]
            return f'"{str(complaint.get("input"))[:50]}"', expected(complaint)
        cause = cause.__cause__ or cause.__context__
    return "not valid", "another value"


def unwrap_help(apps: Sequence[typer.Typer]) -> None:
    """Paragraphs of help become one line each: the terminal breaks them, not the source."""
    for app in apps:
        for info in app.registered_commands:
            info.help = one_line_paragraphs(inspect.getdoc(info.callback))
        group = app.registered_callback
        if group is not None and inspect.getdoc(group.callback):
            group.help = one_line_paragraphs(inspect.getdoc(group.callback))


def one_line_paragraphs(text: str | None) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in (text or "").split("\n\n"))
