/**
 * The one way to check a password. At most five wrong guesses at an account in a quarter of an hour, by whatever path they
 * come, and four at an address that leads to none. Accounts that claim one address are counted each by itself, or whoever
 * claims another's could use up the owner's guesses. Further tries do not prolong it, and a password reset ends it. A guess
 * takes its place before it is looked at, and gives it back when it was right: who finds none free waits to learn what
 * becomes of those that are being looked at.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../db/database-types.ts'
import type { PasswordHasher } from '../../keys/key-types.ts'
import { throttled } from '../../shared/errors.ts'
import type { Semaphore } from '../../shared/semaphore.ts'
import type { Meter } from '../../telemetry/telemetry-types.ts'
import { toOpaqueString } from './opaque-string.ts'
import { findGuesses, giveGuessBack, noteWrongGuess, subjectOf, takeGuess } from './password-check.sql.ts'

const MOST = 5
/** The last place is kept for who is signed in: strangers who guess must not keep an owner from changing the password. */
const MOST_BY_STRANGERS = 4

/** Milliseconds between two looks at guesses that are under way, and for how long. */
const LOOK_EVERY_MS = 50
const PATIENCE_MS = 8_000
/** Seconds to wait for who was not that lucky. */
const ASK_AGAIN_SECONDS = 5

/** A password that somebody says is an account's. */
export interface Guess {
  /** By UUID; or the address that leads to none, which is counted, too, and takes the same time. */
  account: { user: string; passwordHash: string } | { email: string }
  /** As it was typed, at most 256 characters. */
  password: string
  /** Whether it is a session of the account that it comes by. */
  isSignedIn: boolean
}

interface Dependencies {
  database: Pick<Database, 'query'>
  passwords: PasswordHasher
  /** Limits the guesses at one account that a process checks at once. */
  guesses: Semaphore
  meter: Meter
}

/** Compares passwords; what `createPasswordCheck` makes. */
export type PasswordCheck = ReturnType<typeof createPasswordCheck>

/**
 * Checks passwords with a limit on wrong guesses, kept in the database for all processes together; each process looks at
 * no more than two guesses at one account at once.
 */
export function createPasswordCheck({ database, passwords, guesses, meter }: Dependencies) {
  /** A place among the guesses; returns the end of its window. Raises THROTTLED. */
  async function take(subject: string, most: number): Promise<string> {
    for (const start = performance.now(); ; await delay(LOOK_EVERY_MS)) {
      const [taken] = await database.query(takeGuess, { subject, most })
      if (taken) return taken.window_end
      const [guesses] = await database.query(findGuesses, { subject })
      const isFull = guesses !== undefined && guesses.wrong >= most
      if (!isFull && performance.now() - start <= PATIENCE_MS) continue
      meter.count('annal_limit_rejections_total', { limit: 'password-guesses' })
      const seconds = guesses?.retry_after ?? 1
      throw throttled(isFull ? seconds : Math.min(seconds, ASK_AGAIN_SECONDS))
    }
  }

  /**
   * Compares the normalized password, then the password as typed if that differs: earlier versions stored hashes of what was
   * typed. The number of hashes depends on the password alone, so it does not reveal whether the account exists.
   */
  async function isRight(passwordHash: string | undefined, typed: string): Promise<boolean> {
    for (const candidate of new Set([toOpaqueString(typed), typed])) {
      if (await passwords.verify(passwordHash, candidate)) return true
    }
    return false
  }

  /** Counts a guess and compares it. Raises THROTTLED, UNAVAILABLE. */
  async function look(subject: string, { account, password, isSignedIn }: Guess): Promise<boolean> {
    const windowEnd = await take(subject, isSignedIn ? MOST : MOST_BY_STRANGERS)
    const passwordHash = 'user' in account ? account.passwordHash : undefined
    let isWrong = false
    try {
      isWrong = !(await isRight(passwordHash, password))
      return !isWrong
    } finally {
      // If the comparison failed, the guess does not count.
      await database.query(isWrong ? noteWrongGuess : giveGuessBack, { subject, windowEnd })
    }
  }

  return {
    /** Whether the password is the account's. Raises THROTTLED, UNAVAILABLE. */
    check(guess: Guess): Promise<boolean> {
      const subject = subjectOf(guess.account)
      return guesses(() => look(subject, guess), { keys: [subject.toLowerCase()] })
    },
  }
}
