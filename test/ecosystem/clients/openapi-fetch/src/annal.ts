import createClient from 'openapi-fetch'
import type { paths } from './generated/annal.ts'

/** Who asks. */
export interface Sender {
  token?: string
  /** Of a trusted service: it stays on your server, never in a page. */
  apiKey?: string
}

/** A client of the whole interface: paths, parameters, bodies and answers are known. */
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

/** Every refusal has this shape; `type` is one of the words of the description. */
export class Refusal extends Error {
  readonly type: string
  constructor({ type, message }: { type: string; message: string }) {
    super(message)
    this.type = type
  }
}

/** What was answered. Throws a Refusal. */
export function dataOf<Data>({
  data,
  error,
}: {
  data?: Data
  error?: { error: { type: string; message: string } }
}): Data {
  if (error) throw new Refusal(error.error)
  return data as Data
}
