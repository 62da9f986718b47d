"""Access tokens: made, changed, rotated with an overlap and revoked. Who may use one for what is decided in `web`."""

import msgspec

from tollgate.catalog import codes, limits, results
from tollgate.contract.tokens import TokenTerms
from tollgate.operations.app import App
from tollgate.payments.merchants import Credential
from tollgate.store import merchants
from tollgate.values import Conflict, Instant, MerchantId, Refusal
from tollgate.vault.tokens import NewCredential, make_credential


async def list_tokens(app: App, merchant_id: MerchantId) -> list[Credential]:
    """Lists all tokens of a merchant, the newest first."""
    found = await merchants.list_credentials(app.database)
    return [each for each in reversed(found) if each.merchant_id == merchant_id]


def make_token(app: App, merchant_id: MerchantId, terms: TokenTerms, token_id: str = "") -> NewCredential:
    """Makes a token, which is valid when it is inserted; so its id can be recorded before, or chosen by the caller."""
    made = make_credential(merchant_id, app.keyring, app.clock.now(), app.random_bytes, credential_id=token_id)
    return NewCredential(msgspec.structs.replace(made.credential, **msgspec.structs.asdict(terms)), made.token)


async def insert_token(app: App, new: NewCredential) -> None:
    """Stores a token that was made; it is valid from now on."""
    known = await list_tokens(app, new.credential.merchant_id)
    if len([each for each in known if each.revoked_at is None]) >= limits.LIMITS.tokens_per_merchant_max:
        detail = f"a merchant has at most {limits.LIMITS.tokens_per_merchant_max} access tokens that are not revoked"
        raise Refusal(results.get_result(codes.INVALID_REQUEST), detail)
    await merchants.insert_credential(app.database, new.credential)
    await app.merchants.refresh(app.database)


async def change_token(app: App, token: Credential, terms: TokenTerms) -> None:
    """Changes what a token may be used for. Its channels stay: a token for others is a new one."""
    changed = msgspec.structs.replace(token, label=terms.label, scopes=terms.scopes, expires_at=terms.expires_at)
    if not await merchants.update_credential(app.database, changed):
        raise _make_conflict()
    await app.merchants.refresh(app.database)


async def rotate_token(app: App, token: Credential, overlap: Instant, new_id: str = "") -> NewCredential:
    """Makes a token with the same terms, beside which the old one stays valid for a while.

    A token with an end is followed by one that lives as long as it did. new_id: the id of the new one, as the caller
    chose it.
    """
    now = app.clock.now()
    if token.revoked_at is not None or token.is_expired(now):
        raise Refusal(
            results.get_result(codes.INVALID_REQUEST), "the access token is not valid any more: make a new one"
        )
    lifetime = None if token.expires_at is None else token.expires_at - token.created_at
    terms = TokenTerms(
        label=token.label,
        scopes=token.scopes,
        channel_ids=token.channel_ids,
        expires_at=None if lifetime is None else now + lifetime,
    )
    new = make_token(app, token.merchant_id, terms, new_id)
    ends_at = now + overlap if token.expires_at is None else min(token.expires_at, now + overlap)
    ending = msgspec.structs.replace(token, expires_at=ends_at)
    if not await merchants.rotate_credential(app.database, ending, new.credential):
        raise _make_conflict()
    await app.merchants.refresh(app.database)
    return new


async def revoke_token(app: App, token: Credential) -> bool:
    """Takes a token away at once; False if that was done before."""
    is_revoked = await merchants.revoke_credential(app.database, token.id, app.clock.now())
    await app.merchants.refresh(app.database)
    return is_revoked


def _make_conflict() -> Conflict:
    return Conflict(
        results.get_result(codes.REQUEST_IN_PROGRESS), "the access token was revoked or changed at the same time"
    )
