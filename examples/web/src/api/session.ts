/**
 * The access token, in sessionStorage: it outlasts a reload, belongs to one tab, and is gone with it. Whatever script runs on the
 * page can read it, so none but our own may run (the Content-Security-Policy in vite.config.ts). A cookie would be out of reach of
 * scripts, but Annal takes tokens only by a header, which no other site can make a browser send; to have both, let your own
 * server keep the token, as it keeps the API key.
 */
import { useSyncExternalStore } from 'react'

const KEY = 'annal.token'
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
const readToken = () => sessionStorage.getItem(KEY)
const tell = () => {
  for (const listener of listeners) listener()
}

export const startSession = (token: string) => {
  sessionStorage.setItem(KEY, token)
  tell()
}

export const endSession = () => {
  sessionStorage.removeItem(KEY)
  tell()
}

/** The token of whoever is signed in, or null. */
export const useToken = () => useSyncExternalStore(subscribe, readToken)
