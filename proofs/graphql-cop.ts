/** The 12 checks of the auditor graphql-cop, as it asks and as it judges. Each tells whether a weakness was found. */

// biome-ignore lint/suspicious/noExplicitAny: answers of any server, read by path.
type Body = any

const AGENT = { 'User-Agent': 'graphql-cop/1.15', Accept: '*/*' }

/** The body of the answer; its text when it is no JSON. */
async function read(response: Promise<Response>): Promise<Body> {
  const text = await (await response).text()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const repeat = (count: number, each: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => each(i)).join(' ')

export interface Check {
  name: string
  /** Whether the server at this URL has the weakness. */
  isWeak(url: string): Promise<boolean>
}

/** What Python's client sends of a GET: Node's own would say that it is a fetch. */
export type PlainGet = (url: string) => Promise<Body>

export function copChecks(plainGet: PlainGet): Check[] {
  const post = (url: string, body: unknown) =>
    read(
      fetch(url, {
        method: 'POST',
        headers: { ...AGENT, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  const ask = (url: string, query: string) => post(url, { query })
  const withQuery = (url: string, query: string) => `${url}?query=${encodeURIComponent(query)}`

  return [
    {
      name: 'field suggestions',
      isWeak: async (url) =>
        String((await ask(url, 'query cop { __schema { directive } }')).errors?.[0]?.message).includes('Did you mean'),
    },
    {
      name: 'introspection',
      isWeak: async (url) =>
        (await ask(url, 'query cop { __schema { types { name fields { name } } } }')).data?.__schema?.types !==
        undefined,
    },
    {
      name: 'GraphQL IDE',
      async isWeak(url) {
        const pages = ['/graphiql', '/playground', '/console', '/graphql'].map((path) => new URL(path, url).href)
        for (const page of pages) {
          const response = await fetch(page, { headers: { 'User-Agent': AGENT['User-Agent'], Accept: 'text/html' } })
          if (/graphiql\.min\.css|GraphQL Playground|GraphiQL|graphql-playground/.test(await response.text()))
            return true
        }
        return false
      },
    },
    {
      name: 'queries by GET',
      isWeak: async (url) => (await plainGet(withQuery(url, 'query cop {__typename}'))).data?.__typename !== undefined,
    },
    {
      name: 'alias overloading',
      isWeak: async (url) =>
        (await ask(url, `query cop { ${repeat(101, (i) => `alias${i}:__typename`)} }`)).data?.alias100 !== undefined,
    },
    {
      name: 'array batching',
      async isWeak(url) {
        const answers = await post(url, Array(10).fill({ query: 'query cop { __typename }' }))
        return Array.isArray(answers) && answers.length >= 10
      },
    },
    {
      name: 'trace mode',
      async isWeak(url) {
        const body = await ask(url, 'query cop { __typename }')
        const extensions = body.errors?.[0]?.extensions ?? body.extensions ?? {}
        return 'tracing' in extensions || 'exception' in extensions || /stacktrace/i.test(JSON.stringify(body))
      },
    },
    {
      name: 'directive overloading',
      isWeak: async (url) => (await ask(url, `query cop { __typename ${'@aa'.repeat(10)} }`)).errors?.length === 10,
    },
    {
      name: 'circular query of the schema',
      isWeak: async (url) =>
        (await ask(url, `query cop { __schema { types { ${'fields { type { '.repeat(4)} name ${'} }'.repeat(4)} } } }`))
          .data?.__schema?.types?.length > 25,
    },
    {
      name: 'mutations by GET',
      isWeak: async (url) =>
        (await plainGet(withQuery(url, 'mutation cop {__typename}'))).data?.__typename !== undefined,
    },
    {
      name: 'POST that is not JSON',
      async isWeak(url) {
        // Both ways that the auditor has tried in its versions: in the address, and as a form.
        const query = 'query cop {__typename}'
        const inUrl = await read(fetch(withQuery(url, query), { method: 'POST', headers: AGENT }))
        const asForm = await read(fetch(url, { method: 'POST', headers: AGENT, body: new URLSearchParams({ query }) }))
        return inUrl.data?.__typename !== undefined || asForm.data?.__typename !== undefined
      },
    },
    {
      name: 'unhandled errors',
      isWeak: async (url) => {
        const { errors } = await ask(url, 'qwerty cop { abc }')
        return errors?.[0]?.extensions?.exception !== undefined
      },
    },
  ]
}
