/** Links that people get by mail: what they carry, and what a person is told whose link is not good, or not any more. */

import type { Messages } from '../../locales/messages.ts'
import { DomainError } from '../../shared/errors.ts'
import type { Language } from '../../shared/language.ts'
import { noticePage } from './layout.ts'
import type { PageAnswer, PageRequest } from './page.ts'

/** Account and token, as the link's path names them. */
export const linkOf = ({ params }: PageRequest) => ({ uid: params.uid!, token: params.token! })

/** Whether a service refused this field of its input. */
export const isRefusedField = (error: unknown, field: string): boolean =>
  error instanceof DomainError &&
  error.code === 'VALIDATION_FAILED' &&
  typeof error.details === 'object' &&
  Object.hasOwn(error.details, field)

/** Whether a service refused the link itself: what cannot be a link counts as one that is not good. */
export const isDeadLink = (error: unknown): boolean =>
  (error instanceof DomainError && error.code === 'INVALID_TOKEN') ||
  isRefusedField(error, 'uid') ||
  isRefusedField(error, 'token')

/** The page for a link that is not good, or not any more: 410. */
export const deadLinkPage = (
  language: Language,
  words: Messages['pages']['reset'] | Messages['pages']['verify'],
): PageAnswer =>
  noticePage(410, { language, title: words.dead, kind: 'bad', paragraphs: [words.deadWhy, words.deadNext] })
