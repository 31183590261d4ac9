import asyncio
import io
import time

from annal import Annal
from generated import QuoteInput, QuoteRegisterAssetInput, RegisterAssetInput, SignInInput, SignUpInput, Upload


async def first_upload() -> tuple[str, str]:
    """Returns the token of a new account, and the nid of its first asset."""
    username = f"ada-{time.time_ns() // 1_000_000}"
    email, password = f"{username}@example.org", "correct horse battery"
    async with Annal() as nobody:
        await nobody.sign_up(SignUpInput(username=username, email=email, password=password))
        token = (await nobody.sign_in(SignInInput(email=email, password=password))).sign_in.token

    async with Annal(token) as annal:
        quote = (await annal.quote(QuoteInput(register_asset=QuoteRegisterAssetInput()))).quote
        print(f"Costs {quote.total} of {quote.available}, problems: {len(quote.problems)}")

        # #region upload
        content = io.BytesIO(f"Hello, Annal, from {username}.".encode())
        file = Upload(filename="hello.txt", content=content, content_type="text/plain")
        asset = (await annal.register(RegisterAssetInput(asset_file=file, caption="Hello"))).register_asset.asset
        # #endregion
        print(f"Registered {asset.id}: {asset.asset_file_url}")
        return token, asset.id


if __name__ == "__main__":
    asyncio.run(first_upload())
