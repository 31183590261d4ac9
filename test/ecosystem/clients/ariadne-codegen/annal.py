import os
from collections.abc import AsyncIterator, Callable
from typing import Any

from httpx import AsyncClient
from httpx_sse import aconnect_sse

from generated import Client, GraphQLClientGraphQLMultiError
from generated.enums import ErrorCode

URL = os.environ.get("ANNAL_URL", "http://localhost:4000") + "/graphql"


class Annal(Client):
    """The generated client with credentials. Subscriptions use server-sent events."""

    def __init__(self, token: str | None = None, api_key: str | None = None) -> None:
        # The server requires this header for uploads.
        headers = {"GraphQL-Require-Preflight": "true"}
        if token:
            headers["Authorization"] = f"token {token}"
        if api_key:  # API key of a trusted service.
            headers["x-api-key"] = api_key
        super().__init__(url=URL, headers=headers)

    # #region sse
    async def execute_ws(
        self,
        query: str,
        operation_name: str | None = None,
        variables: dict[str, Any] | None = None,
        connected: Callable[[], object] = lambda: None,
        **kwargs: Any,
    ) -> AsyncIterator[dict[str, Any]]:
        body = {
            "query": query,
            "operationName": operation_name,
            "variables": self._convert_dict_to_json_serializable(variables or {}),
        }
        assert isinstance(self.http_client, AsyncClient)
        async with aconnect_sse(self.http_client, "POST", self.url, json=body, timeout=None, **kwargs) as stream:
            stream.response.raise_for_status()
            connected()
            async for event in stream.aiter_sse():
                if event.event != "next":
                    return
                result = event.json()
                if "errors" in result:
                    raise GraphQLClientGraphQLMultiError.from_errors_dicts(result["errors"], result.get("data"))
                yield result["data"]
    # #endregion


# #region refusal
def error_of(error: GraphQLClientGraphQLMultiError) -> tuple[ErrorCode, dict[str, object]]:
    """Returns the code and the other extensions of an error."""
    extensions = error.errors[0].extensions or {}
    return ErrorCode(extensions["code"]), extensions
# #endregion
