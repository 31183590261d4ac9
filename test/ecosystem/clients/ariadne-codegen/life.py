import asyncio
import os
from collections.abc import AsyncIterator, Callable
from decimal import Decimal

from annal import Annal, error_of
from first_upload import first_upload
from generated import (
    ConfirmOrderInput,
    CreateOrderInput,
    GraphQLClientGraphQLMultiError,
    Update,
    UpdateAssetMetadataInput,
)
from generated.enums import ErrorCode


# #region update
async def update(annal: Annal, nid: str, caption: str, key: str) -> Update:
    custom: dict[str, object] = {"license": {"name": "CC-BY-4.0"}}
    changes = UpdateAssetMetadataInput(id=nid, caption=caption, nit_commit_custom=custom)
    return await annal.update(changes, headers={"Idempotency-Key": key})
# #endregion


# #region subscription
async def next_commit(annal: Annal, nid: str, seen: int, connected: Callable[[], object]) -> int:
    """Returns the first commit after `seen`."""
    async for told in annal.commits(nid, connected=connected):
        if told.commit_updated.sequence > seen:
            return told.commit_updated.sequence
    raise EOFError("The stream ended.")
# #endregion


# #region pages
async def history(annal: Annal, nid: str, first: int) -> AsyncIterator[list[int]]:
    """Yields the history of an asset, newest first, page by page."""
    after = None
    while True:
        asset = (await annal.history(nid, first, after)).asset
        assert asset
        yield [commit.sequence for commit in asset.commits.nodes]
        if not asset.commits.page_info.has_next_page:
            return
        after = asset.commits.page_info.end_cursor
# #endregion


# #region errors
async def order(annal: Annal, network_app: str) -> str:
    try:
        created = (await annal.order(CreateOrderInput(network_app=network_app))).create_order.order
    except GraphQLClientGraphQLMultiError as error:
        match error_of(error):
            case ErrorCode.INSUFFICIENT_FUND, known:
                raise ValueError(f"Top up {known['missing']}") from error
            case ErrorCode.INVALID_NETWORK_APP_NAME, _:
                raise ValueError(f"There is no {network_app}") from error
        raise
    assert created
    return created.id
# #endregion


async def refused(annal: Annal, network_app: str) -> str:
    try:
        await order(annal, network_app)
    except ValueError as error:
        return str(error)
    raise AssertionError("It was not refused.")


async def main() -> None:
    token, nid = await first_upload()
    async with Annal(token, os.environ.get("ANNAL_API_KEY")) as annal:
        wallet = (await annal.me()).me.wallet
        assert wallet and wallet.points == Decimal("11.821")

        connected = asyncio.Event()
        told = asyncio.create_task(next_commit(annal, nid, 1, connected.set))
        await asyncio.wait([told, asyncio.create_task(connected.wait())], return_when=asyncio.FIRST_COMPLETED)
        first = (await update(annal, nid, "Hello again", "once")).update_asset_metadata.asset
        again = (await update(annal, nid, "Hello again", "once")).update_asset_metadata.asset
        assert first == again and first.commit_count == 2
        assert await told == 2
        assert [page async for page in history(annal, nid, 1)] == [[2], [1]]

        assert await refused(annal, "portrait") == "Top up 988.358"
        assert await refused(annal, "nothing of the kind") == "There is no nothing of the kind"
        order_id = await order(annal, "upscale")
        confirmed = await annal.confirm(ConfirmOrderInput(id=order_id, max_cost=Decimal("2")))
        assert confirmed.confirm_order.order.total_paid == Decimal("1.5")


asyncio.run(main())
