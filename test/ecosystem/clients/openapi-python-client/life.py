"""Signs up, registers a file, changes it, reads its history, buys an action and deletes the account, with the generated client."""

import os
import time
from io import BytesIO
from typing import TypeVar

from generated import AuthenticatedClient, Client
from generated.api.account import delete_me, get_me, sign_up
from generated.api.assets import (
    delete_asset,
    get_asset,
    get_asset_history,
    list_assets,
    register_asset,
    revert_asset,
    update_asset,
)
from generated.api.files import get_file
from generated.api.orders import cancel_order, confirm_order, create_order
from generated.api.quotes import quote_confirm_order, quote_create_order, quote_register_asset, quote_update_asset
from generated.api.sessions import sign_in
from generated.models import (
    Asset,
    AssetToRegister,
    ConfirmOrder,
    CreateOrder,
    CreateOrderActionArgs,
    History,
    Me,
    NotFoundError,
    Order,
    OrderStatus,
    PageOfAssets,
    Quote,
    RegistrationToQuote,
    RevertAsset,
    SignedUpUser,
    SignIn,
    SignUp,
    Token,
    UpdateAsset,
    UpdateAssetNitCommitCustom,
)
from generated.types import File

HOST = os.environ.get("ANNAL_URL", "http://localhost:4000")
API_KEY = os.environ["ANNAL_API_KEY"]
Answer = TypeVar("Answer")


def answer_of(kind: type[Answer], answer: object) -> Answer:
    """Returns the response. Fails unless it has this type."""
    assert isinstance(answer, kind), answer
    return answer


def new_client(username: str) -> AuthenticatedClient:
    email, password = f"{username}@example.org", "correct horse battery"
    service = AuthenticatedClient(base_url=HOST, token=API_KEY, prefix="", auth_header_name="x-api-key")
    account = SignUp(username=username, email=email, password=password)
    assert answer_of(SignedUpUser, sign_up.sync(client=service, body=account)).username == username
    credentials = SignIn(email=email, password=password)
    token = answer_of(Token, sign_in.sync(client=Client(base_url=HOST), body=credentials)).auth_token
    return AuthenticatedClient(base_url=HOST, token=token, headers={"x-api-key": API_KEY})


def register(client: AuthenticatedClient, content: bytes) -> str:
    def file() -> File:
        return File(payload=BytesIO(content), file_name="hello.txt", mime_type="text/plain")

    quoted = RegistrationToQuote(asset_file=file(), public_access=True)
    quote = answer_of(Quote, quote_register_asset.sync(client=client, body=quoted))
    assert (quote.total_cost, quote.errors) == ("0.179", [])
    custom = '{"license": {"name": "CC0-1.0"}}'
    body = AssetToRegister(asset_file=file(), caption="Hello", public_access=True, nit_commit_custom=custom)
    asset = answer_of(Asset, register_asset.sync(client=client, body=body))
    assert (asset.asset_file_name, asset.public_access) == ("hello.txt", True)
    assert asset.nit_commit_custom and asset.nit_commit_custom["license"] == {"name": "CC0-1.0"}
    assert answer_of(File, get_file.sync(asset.id, client=client)).payload.read() == content
    return asset.id


def update(client: AuthenticatedClient, nid: str) -> None:
    custom = UpdateAssetNitCommitCustom.from_dict({"license": {"name": "CC-BY-4.0"}})
    change = UpdateAsset(caption="Hello again", public_access=False, nit_commit_custom=custom)
    assert answer_of(Quote, quote_update_asset.sync(nid, client=client, body=change)).total_cost == "0.179"
    changed = answer_of(Asset, update_asset.sync(nid, client=client, body=change))
    assert (changed.caption, changed.public_access) == ("Hello again", False)
    history = answer_of(History, get_asset_history.sync(nid, client=client))
    assert (history.count, len(history.commits)) == (2, 2)
    first = RevertAsset(revert_to=history.commits[0].id)
    assert answer_of(Asset, revert_asset.sync(nid, client=client, body=first)).caption == "Hello"
    assert answer_of(PageOfAssets, list_assets.sync(client=client, limit=10)).results[0].id == nid


def buy(client: AuthenticatedClient) -> None:
    wanted = CreateOrder(network_app="upscale", action_args=CreateOrderActionArgs.from_dict({"factor": 2}))
    assert answer_of(Quote, quote_create_order.sync(client=client, body=wanted)).total_cost == "1.5"
    order = answer_of(Order, create_order.sync(client=client, body=wanted))
    assert (order.status, order.action_args["factor"]) == (OrderStatus.CREATED, 2)
    assert answer_of(Quote, quote_confirm_order.sync(order.id, client=client)).points_charged == "1.5"
    paid = answer_of(Order, confirm_order.sync(order.id, client=client))
    assert (paid.status, paid.points_paid) == (OrderStatus.SUCCESS, "1.5")
    again = answer_of(Order, confirm_order.sync(order.id, client=client, body=ConfirmOrder()))
    assert again.points_paid == "1.5"
    other = answer_of(Order, create_order.sync(client=client, body=wanted)).id
    assert answer_of(Order, cancel_order.sync(other, client=client)).id == other


def main() -> None:
    username = f"ada-{time.time_ns() // 1_000_000}"
    client = new_client(username)
    nid = register(client, f"Hello, Annal, from {username}.".encode())
    update(client, nid)
    buy(client)
    refused = answer_of(NotFoundError, get_asset.sync("bafkreiaaaa", client=client))
    assert refused.error.type_ == "resource_not_found"
    assert answer_of(Me, get_me.sync(client=client)).asset_count == 1
    assert delete_asset.sync_detailed(nid, client=client).status_code == 204
    assert delete_me.sync_detailed(client=client).status_code == 204


main()
