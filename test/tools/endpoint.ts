/** Whom a tool asks, and as whom. */
export interface Endpoint {
  /** Of the GraphQL door. */
  url: string
  /** An access token. */
  token: string
}

export const headersOf = ({ token }: Endpoint) => ({ Authorization: `token ${token}` })
