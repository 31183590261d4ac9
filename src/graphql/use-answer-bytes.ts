import { isAsyncIterable, type Plugin } from 'graphql-yoga'

/** Text of so many characters is written at once, and seldom waits for its reader. */
const SHORT = 65_536

/** What a response takes as its body; Yoga knows of text alone. */
export const writable = (text: string): string =>
  text.length <= SHORT ? text : (Buffer.from(text) as unknown as string)

const stringify = (result: unknown) => writable(JSON.stringify(result))

/**
 * Long answers are handed to the connection as bytes. As text one would take four times its length until it is read: the
 * text itself, and beside it the room that Node makes for any characters.
 */
export const useAnswerBytes = (): Plugin => ({
  onResultProcess({ result }) {
    if (!isAsyncIterable(result) && !Array.isArray(result)) result.stringify = stringify
  },
})
