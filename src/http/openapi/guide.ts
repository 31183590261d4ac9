/** The introduction of the OpenAPI document, with rules that apply to every route. */
import type { ErrorCode } from '../../shared/errors.ts'
import { MAX_JSON_VALUES } from '../../shared/input.ts'
import { statuses } from '../error-status.ts'
import { meaningOf } from './error-responses.ts'

const errorTable = (codes: Iterable<ErrorCode>) =>
  [...codes]
    .map((code) => ({ ...statuses[code], meaning: meaningOf(code) }))
    .sort((one, other) => one.status - other.status || (one.type < other.type ? -1 : 1))
    .map(({ status, type, meaning }) => `| ${status} | \`${type}\` | ${meaning} |`)
    .join('\n')

export const createGuide = (
  codes: Iterable<ErrorCode>,
) => `The GraphQL API at \`/graphql\` offers the same operations with the same rules as this REST API.

## Signing in

\`POST /api/v3/auth/token/login\` returns a token. Send it as \`Authorization: Bearer <token>\` or \`Authorization: token <token>\`.
Orders also need the API key of a trusted service: \`x-api-key: <key>\`. An expired or revoked token is rejected with 401, except for sign-up, login,
password reset, and paths whose response is the same for all callers (probes, documents, \`app-info\`). 401 means that you are not identified. 403 means that you
are signed in but not allowed.

## Addresses and bodies

Every path works with and without a trailing slash. Paths of \`/api/v3/auth/…\` are also served as \`/auth/…\`. A request body may be JSON,
\`multipart/form-data\` or \`application/x-www-form-urlencoded\`. Uploading a file requires \`multipart/form-data\`. A JSON body has at
most 256 KB, ${MAX_JSON_VALUES.toLocaleString('en')} values and 16 levels. Other bodies have at most 1 MB in addition to their files. An empty body is an empty object, and unknown fields and parameters are ignored.

White space at both ends of a text is removed before the text is validated and stored. Passwords and JSON texts (\`meta\`, \`signed_metadata\`,
\`signature\`) stay unchanged.

For backward compatibility, these are also accepted: numbers and booleans where text is expected, \`True\` for \`true\`, JSON with the Content-Type
\`text/json\` or \`text/plain\`, JSON as text, a text that is sent as a file (a \`Blob\`), an empty field for a missing one, and the JSON \`null\` and
\`[]\` for an empty body.

## Responses

Times are ISO 8601 in UTC. Money is a decimal string, never a number. One point is worth one currency unit. Responses may get new fields, so ignore
fields that you do not know. Fields are never removed. Every response has an \`X-Request-Id\`. Mention it when you ask for help.

Lists return \`{count, next, previous, results}\`. \`next\` and \`previous\` are absolute URLs. The history of an asset has the key \`commits\` instead
of \`results\`. A page has as many records as you request while records remain, however large they are. A long page is sent while it is
read. If the connection ends before the JSON document does, the page is incomplete: repeat the request.

Choose a page by \`limit\` and \`offset\`, or by \`page\` and \`page_size\`, but not by both. A page number that does not exist returns
404. A parameter that is given twice with different values is rejected. In lists of other users' assets, \`search\` and
\`ordering=updated_at\` consider only the newest 10,000 assets.

## Retrying

Send an \`Idempotency-Key\` (1 to 255 characters, preferably a UUID) with every POST and PATCH. If no response arrives, repeat the request with the same
key. The request is executed once, and the stored response has \`Idempotency-Replayed: true\`. Keys are stored for 7 days unless the operator sets another
time of at least a day. After 429 and 503, wait for the seconds in \`Retry-After\`.

Every paid request has a quote: \`POST /api/v3/quotes/…\` takes the same fields. It returns the cost and every reason for which the
request would be rejected. It changes nothing. \`max_cost\`, in the body or the query, makes a request fail if it costs more. Existing
callers may also send a paid request with \`?dry_run=true\`: the response is the quote, with status 200.

The \`ETag\` of an asset changes when its response changes. Send the \`ETag\` as \`If-None-Match\` to read the asset only if it has changed. Send it as
\`If-Match\` to change the asset only if nobody else has changed it.

## Errors

Every error response has the same format. Programs should use \`error.type\`, not the message. The top-level \`detail\` repeats the message.

\`\`\`json
{ "error": { "type": "resource_not_found", "message": "Asset not found." }, "status_code": 404, "detail": "Asset not found." }
\`\`\`

In addition to the errors of each route, any path returns 405 \`method_not_allowed\` with \`Allow\` for a method that it does not support.

| status | \`error.type\` | meaning |
|---|---|---|
${errorTable(codes)}
`
