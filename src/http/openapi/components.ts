/** Parts of the description that many routes share, each under its name. */

/** The media type of every answer that is no file. */
export const JSON_TYPE = 'application/json'

/** Headers of answers. */
export const headers = {
  ETag: { description: 'The version of what is answered.', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: '`true` when the answer is that of an earlier request with the same key.',
    schema: { type: 'string', const: 'true' },
  },
  RequestId: { description: 'What the request is called in the log.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds after which to ask again.', schema: { type: 'integer', minimum: 0 } },
  WwwAuthenticate: { description: 'How to sign in.', schema: { type: 'string', const: 'Token' } },
}

/** What is sent besides path, body and the query that a route has of its own. */
export const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'A name of this request, best a UUID: a repetition with the same name is carried out once.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of the answer one has: when it is the same, the answer is 304.',
    schema: { type: 'string' },
  },
}

/** How callers say who they are. */
export const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of a session, from `POST /api/v3/auth/token/login`. `Authorization: token …` is read, too.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The key of a trusted service, which an administrator issues.',
  },
}

/** A reference to a header. */
export const header = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })
/** A reference to a parameter. */
export const parameter = (name: keyof typeof parameters) => ({ $ref: `#/components/parameters/${name}` })
