const words = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** What a flag in a query says, in any case (Python writes `True`); undefined when it is missing or says something else. */
export const queryFlag = (query: URLSearchParams, name: string): boolean | undefined =>
  words.get(query.get(name)?.toLowerCase() ?? '')
