import type { Limit } from '../limits.ts'

/** Tries to sign in from one network, wherever. */
export const signInLimit = ({ signInsPerMinute }: { signInsPerMinute: number }): Limit => ({
  name: 'sign-in',
  count: signInsPerMinute,
  seconds: 60,
})
