"""The flags of a channel as options of commands. Their forms are checked in `contract`."""

import sys
from collections.abc import Callable, Collection
from typing import Any

import click

from tollgate.config import Settings
from tollgate.contract import channels
from tollgate.payments.merchants import CHANNEL_FLAGS, Channel, ChannelFlag, Form
from tollgate.wire import may_carry_cards


def _make_option(flag: ChannelFlag) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def read(_context: click.Context, _flag: click.Parameter, value: Any) -> Any:
        if value is None or flag.form in (Form.SWITCH, Form.COUNT):
            return value
        try:
            return channels.read_channel_value(flag.form, value)
        except ValueError as fault:
            raise click.BadParameter(str(fault)) from None

    kind = click.IntRange(min=0) if flag.form is Form.COUNT else None
    return click.option(flag.names, type=kind, default=None, callback=read, help=flag.text)


def with_channel_flags(*, without: Collection[str] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the flags of a channel to a command, but for those of the members named."""

    def add_flags(command: Callable[..., Any]) -> Callable[..., Any]:
        for flag in reversed(CHANNEL_FLAGS):
            if flag.member not in without:
                command = _make_option(flag)(command)
        return command

    return add_flags


def refuse_unsafe_addresses(channel: Channel, changes: dict[str, Any], settings: Settings) -> None:
    """Stops the command where a changed address would have a live host send card data without TLS.

    An address of another protocol than the acquirer's is refused too.
    """
    for flag, text in channels.list_unfit_addresses(channel):
        raise click.UsageError(f"{flag.name}: {text}")
    for flag, address in channels.list_card_addresses(channel):
        if changes.get(flag.parameter) and not may_carry_cards(
            address, is_live=settings.is_live, allows_plain_loopback=settings.allow_plain_loopback
        ):
            raise click.UsageError(f"{flag.name}: {channels.PLAIN_ADDRESS}")


def merge_flags(channel: Channel, changes: dict[str, Any]) -> Channel:
    """Returns the channel with these changes; the command ends where some are missing that belong to them."""
    try:
        return channels.merge_flags(channel, changes)
    except channels.IncompleteTerms as fault:
        sys.exit(f"tollgate: {fault}")
