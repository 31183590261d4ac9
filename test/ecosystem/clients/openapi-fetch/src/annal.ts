import createClient from 'openapi-fetch'
import type { paths } from './generated/annal.ts'

/** Credentials of requests. */
export interface Sender {
  token?: string
  /** API key of a trusted service. Keep it on your server. */
  apiKey?: string
}

/** Creates a client with types for all routes. */
export const createAnnal = ({ token, apiKey }: Sender = {}) =>
  createClient<paths>({
    baseUrl: process.env.ANNAL_URL ?? 'http://localhost:4000',
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(apiKey && { 'x-api-key': apiKey }),
    },
  })

/** Serializes a body as a form. Files need one. */
export function asForm(body: Record<string, string | boolean | Blob | undefined>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) {
    if (value !== undefined) form.append(name, value instanceof Blob ? value : String(value))
  }
  return form
}

/** The body of an error. The OpenAPI document lists the types. */
export class AnnalError extends Error {
  readonly type: string
  constructor({ type, message }: { type: string; message: string }) {
    super(message)
    this.type = type
  }
}

/** Returns the data of a response. Throws AnnalError. */
export function dataOf<Data>({
  data,
  error,
}: {
  data?: Data
  error?: { error: { type: string; message: string } }
}): Data {
  if (error) throw new AnnalError(error.error)
  return data as Data
}
