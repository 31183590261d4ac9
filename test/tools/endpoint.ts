/** Whom a tool asks, and as whom. */
export interface Endpoint {
  url: string
  token: string
}

export const headersOf = ({ token }: Endpoint) => ({ Authorization: `token ${token}` })
