import { type Answer, authorize, readAnswer } from './rest-client.ts'
import type { TestActor } from './user.ts'

export interface GraphQLOptions {
  actor?: TestActor | undefined
  headers?: Record<string, string>
  /** A file for the variable at a path such as `input.assetFile`, by the multipart request specification. */
  upload?: { at: string; file: File }
}

/** `body.data` and `body.errors` as they came. */
export type GraphQL = (document: string, variables?: object, options?: GraphQLOptions) => Promise<Answer>

function withNullAt(variables: object, path: string): object {
  const copy = structuredClone(variables) as Record<string, unknown>
  const steps = path.split('.')
  let at = copy
  for (const step of steps.slice(0, -1)) {
    at[step] ??= {}
    at = at[step] as Record<string, unknown>
  }
  at[steps.at(-1)!] = null
  return copy
}

export const createGraphQL =
  (url: string, defaults: Pick<GraphQLOptions, 'actor'> = {}): GraphQL =>
  async (query, variables = {}, { actor = defaults.actor, headers = {}, upload } = {}) => {
    const base = { Accept: 'application/json', ...authorize(actor), ...headers }
    const sent = `${query.trim()} ${JSON.stringify(variables)}`
    if (!upload) {
      const body = JSON.stringify({ query, variables })
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json', ...base },
      })
      return readAnswer(response, sent)
    }
    const form = new FormData()
    form.set('operations', JSON.stringify({ query, variables: withNullAt(variables, upload.at) }))
    form.set('map', JSON.stringify({ 0: [`variables.${upload.at}`] }))
    form.set('0', upload.file)
    return readAnswer(
      await fetch(`${url}/graphql`, {
        method: 'POST',
        body: form,
        headers: { 'GraphQL-Require-Preflight': 'true', ...base },
      }),
      sent,
    )
  }
