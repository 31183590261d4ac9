declare global {
  // Of ECMAScript's "JSON.parse source text access", which the compiler's libraries do not know yet.
  interface JSON {
    rawJSON(text: string): unknown
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  }
}

const asWritten = (_key: string, value: unknown, { source }: { source?: string }) =>
  typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value

/** What JSON text says, to be written as JSON again: its numbers stay as they were written, for not each is a double. Raises SyntaxError. */
export const parseAsWritten = (text: string): unknown => JSON.parse(text, asWritten)
