/** What a person is told when a page could not be made. */

import { type Messages, messages } from '../../locales/messages.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import { preferredLanguage } from '../../shared/language.ts'
import { noticePage } from './layout.ts'
import type { PageAnswer } from './page.ts'

type Reason = 'busy' | 'down' | 'unread' | 'missing'

const reasons: Partial<Record<ErrorCode, Reason>> = {
  METHOD_NOT_ALLOWED: 'unread',
  NOT_FOUND: 'missing',
  THROTTLED: 'busy',
  VALIDATION_FAILED: 'unread',
  PARSE_ERROR: 'unread',
  PAYLOAD_TOO_LARGE: 'unread',
  UNSUPPORTED_MEDIA_TYPE: 'unread',
}

/** Where no mail led to the page, nothing but the address itself can be wrong by what it says. */
const reasonOf = (code: ErrorCode, isMailed: boolean): Reason =>
  !isMailed && code === 'VALIDATION_FAILED' ? 'missing' : (reasons[code] ?? 'down')

function nextStep(reason: Reason, isMailed: boolean, words: Messages['pages']['refusal']): string {
  if (isMailed || reason === 'missing') return words[`${reason}Text`]
  return reason === 'unread' ? words.unreadAgain : words.again
}

/**
 * The page that tells of a refusal. `status` is the one that the refusal has everywhere; `isMailed`: whether a mailed link
 * leads to the page.
 */
export function refusalPage(code: ErrorCode, status: number, languages: string, isMailed = true): PageAnswer {
  const language = preferredLanguage(languages)
  const { refusal: words } = messages[language].pages
  const reason = reasonOf(code, isMailed)
  const paragraphs = [nextStep(reason, isMailed, words)]
  return noticePage(status, { language, title: words[reason], kind: 'bad', paragraphs })
}
