"""Signs up, registers a file, changes it, reads its history, buys an action and deletes the account, with the generated client."""

import os
import sys
import time

sys.path.insert(0, "generated")

from annal import (
    AccountApi,
    ApiClient,
    Asset,
    AssetsApi,
    Configuration,
    ConfirmOrder,
    CreateOrder,
    FilesApi,
    Order,
    OrdersApi,
    Quote,
    QuotesApi,
    RevertAsset,
    SessionsApi,
    SignIn,
    SignUp,
    UpdateAsset,
)
from annal.exceptions import NotFoundException

HOST = os.environ.get("ANNAL_URL", "http://localhost:4000")


def sign_up(username: str) -> ApiClient:
    email, password = f"{username}@example.org", "correct horse battery"
    nobody = ApiClient(Configuration(host=HOST))
    made = AccountApi(nobody).sign_up(SignUp(username=username, email=email, password=password))
    assert made.username == username
    token = SessionsApi(nobody).sign_in(SignIn(email=email, password=password)).auth_token
    api_key = {"apiKey": os.environ["ANNAL_API_KEY"]}
    return ApiClient(Configuration(host=HOST, access_token=token, api_key=api_key))


def register(client: ApiClient, content: bytes) -> str:
    file = ("hello.txt", content)
    quote: Quote = QuotesApi(client).quote_register_asset(asset_file=file, public_access=True)
    assert (quote.total_cost, quote.errors) == ("0.179", [])
    custom = '{"license": {"name": "CC0-1.0"}}'
    asset: Asset = AssetsApi(client).register_asset(
        asset_file=file, caption="Hello", public_access=True, nit_commit_custom=custom
    )
    assert (asset.asset_file_name, asset.public_access) == ("hello.txt", True)
    assert asset.nit_commit_custom == {"license": {"name": "CC0-1.0"}}
    assert FilesApi(client).get_file(asset.id) == content
    return asset.id


def update(client: ApiClient, nid: str) -> None:
    assets = AssetsApi(client)
    change = UpdateAsset(
        caption="Hello again", public_access=False, nit_commit_custom={"license": {"name": "CC-BY-4.0"}}
    )
    assert QuotesApi(client).quote_update_asset(nid, update_asset=change).total_cost == "0.179"
    changed: Asset = assets.update_asset(nid, update_asset=change)
    assert (changed.caption, changed.public_access) == ("Hello again", False)
    history = assets.get_asset_history(nid)
    assert (history.count, len(history.commits)) == (2, 2)
    first = RevertAsset(revert_to=history.commits[0].id)
    assert assets.revert_asset(nid, first).caption == "Hello"
    assert assets.list_assets(limit=10).results[0].id == nid


def buy(client: ApiClient) -> None:
    orders, quotes = OrdersApi(client), QuotesApi(client)
    wanted = CreateOrder(network_app="upscale", action_args={"factor": 2})
    assert quotes.quote_create_order(wanted).total_cost == "1.5"
    order: Order = orders.create_order(wanted)
    assert (order.status, order.action_args) == ("created", {"factor": 2})
    assert quotes.quote_confirm_order(order.id).points_charged == "1.5"
    paid: Order = orders.confirm_order(order.id)
    assert (paid.status, paid.points_paid) == ("success", "1.5")
    assert orders.confirm_order(order.id, confirm_order=ConfirmOrder()).points_paid == "1.5"
    other = orders.create_order(wanted).id
    assert orders.cancel_order(other).id == other


def main() -> None:
    username = f"ada-{time.time_ns() // 1_000_000}"
    client = sign_up(username)
    nid = register(client, f"Hello, Annal, from {username}.".encode())
    update(client, nid)
    buy(client)
    try:
        AssetsApi(client).get_asset("bafkreiaaaa")
        raise AssertionError("It was found.")
    except NotFoundException as refused:
        assert refused.status == 404
    account = AccountApi(client)
    assert account.get_me().asset_count == 1
    AssetsApi(client).delete_asset(nid)
    account.delete_me()


main()
