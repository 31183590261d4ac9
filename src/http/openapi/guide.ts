/** What holds for every route: the text at the head of the description. */
import type { ErrorCode } from '../../shared/errors.ts'
import { MAX_JSON_VALUES } from '../../shared/json-input.ts'
import { statuses } from '../error-status.ts'
import { meaningOf } from './error-responses.ts'

const errorTable = (codes: Iterable<ErrorCode>) =>
  [...codes]
    .map((code) => ({ ...statuses[code], meaning: meaningOf(code) }))
    .sort((one, other) => one.status - other.status || (one.type < other.type ? -1 : 1))
    .map(({ status, type, meaning }) => `| ${status} | \`${type}\` | ${meaning} |`)
    .join('\n')

/** The text, as Markdown; its table tells of these codes. */
export const createGuide = (
  codes: Iterable<ErrorCode>,
) => `Everything here can be done over GraphQL at \`/graphql\`, too; both interfaces keep the same rules.

## Signing in

\`POST /api/v3/auth/token/login\` answers a token. Send it as \`Authorization: Bearer <token>\` or \`Authorization: token <token>\`.
Orders also need an API key, which identifies a trusted service: \`x-api-key: <key>\`. An expired or revoked token is refused with
401, except by sign-up, login and password reset, and by addresses where everybody is answered the same (probes, descriptions,
\`app-info\`), which ignore it. 401 always means "who are you?"; what you may not do is 403.

## Addresses and bodies

Every address works with and without a slash at its end, and those of \`/api/v3/auth/…\` also as \`/auth/…\`. A body may be JSON,
\`multipart/form-data\` or \`application/x-www-form-urlencoded\`; a file needs \`multipart/form-data\`. A JSON body has at
most 256 KB, ${MAX_JSON_VALUES.toLocaleString('en')} values and 16 levels. Other bodies have at most 1 MB besides their files. An empty body is an empty object, and unknown fields and parameters are ignored.

White space at both ends of a text is removed before the text is checked and stored, also over GraphQL. Passwords and JSON
texts (\`meta\`, \`signed_metadata\`, \`signature\`) stay as they are.

Bodies are described as they are best sent. For callers that exist already more is read: numbers and booleans where text is
expected, \`True\` for \`true\`, JSON with the Content-Type \`text/json\` or \`text/plain\`, JSON as text, a text that comes as a file (a \`Blob\`), an empty field as one that was left out,
and the JSON \`null\` and \`[]\` as an empty body.

## Answers

Times are ISO 8601 in UTC. Money is a decimal string, never a number; one point is worth one currency unit. Answers get new
fields from time to time, so readers ignore those that they do not know; none is ever taken away. Every answer has an
\`X-Request-Id\`: tell it when you ask for help.

Lists return \`{count, next, previous, results}\`. \`next\` and \`previous\` are absolute URLs. A history has the key \`commits\` instead
of \`results\`. A page has as many records as you ask for while records remain, however large they are. A long page is sent while it is
read. If the connection ends before the JSON document does, the page is incomplete: repeat the request.

Choose a page by \`limit\` and \`offset\`, or by \`page\` and \`page_size\`, but not by both. A page number that does not exist returns
404. A parameter that is given twice with different values is rejected. In lists of other users' assets, \`search\` and
\`ordering=updated_at\` consider only the newest 10,000 assets.

## Retrying

Send an \`Idempotency-Key\` (1 to 255 characters, best a UUID) with every POST and PATCH, and repeat the request with the same key
when no answer comes: it is carried out once, and answered as the first time with \`Idempotency-Replayed: true\`. Keys are kept for
7 days unless the operator says otherwise, a day at least. After 429 and 503 wait for the seconds of \`Retry-After\`.

Every paid request has a quote: \`POST /api/v3/quotes/…\` takes the same fields. It returns the cost and every reason for which the
request would be refused. It changes nothing. \`max_cost\`, in the body or the query, makes a request fail if it costs more. Existing
callers may also send a paid request with \`?dry_run=true\`: the response is the quote, with status 200.

An asset's \`ETag\` changes with whatever is answered of it. Send it as \`If-None-Match\` to read the asset only if it has changed, and as \`If-Match\` to change
it only if it has not.


## Errors

Every refusal has the same shape. Read \`error.type\`, not the message; the top-level \`detail\` repeats the message.

\`\`\`json
{ "error": { "type": "resource_not_found", "message": "Asset not found." }, "status_code": 404, "detail": "Asset not found." }
\`\`\`

Besides what each route names, any address answers 405 \`method_not_allowed\`, with \`Allow\`, to a method that it does not have.

| status | \`error.type\` | meaning |
|---|---|---|
${errorTable(codes)}
`
