"""The command openapi, which prints the description of the interface for other programs.

What it says is made in `docs`.
"""

from typing import Any

import click
import orjson

from tollgate import __version__
from tollgate.cli.program import program, read_settings, with_settings
from tollgate.docs.openapi import make_document
from tollgate.docs.postman import make_collection


@program.command("openapi")
@click.option("--postman", "is_for_postman", is_flag=True, help="Print a collection for Postman instead.")
@with_settings("host", "port", "public_url", "environment")
def openapi(is_for_postman: bool, **flags: Any) -> None:
    """Print the OpenAPI document of a host with these settings."""
    settings = read_settings(flags)
    make = make_collection if is_for_postman else make_document
    shown = make(settings.base_url, settings.is_live, __version__)
    click.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2))
