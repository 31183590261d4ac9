/** What a person is told when a page could not be made. */
import type { ErrorCode } from '../domain/errors.ts'
import { noticePage } from './layout.ts'
import type { PageAnswer } from './page.ts'
import { pageWords, preferredLanguage } from './words.ts'

type Reason = 'busy' | 'down' | 'unread'

const reasons: Partial<Record<ErrorCode, Reason>> = {
  METHOD_NOT_ALLOWED: 'unread',
  THROTTLED: 'busy',
  VALIDATION_FAILED: 'unread',
  PARSE_ERROR: 'unread',
  PAYLOAD_TOO_LARGE: 'unread',
  UNSUPPORTED_MEDIA_TYPE: 'unread',
}

/**
 * The page that tells of a refusal. `status` is the one that the refusal has everywhere; `isMailed`: whether a mailed link
 * leads to the page.
 */
export function refusalPage(code: ErrorCode, status: number, languages: string, isMailed = true): PageAnswer {
  const language = preferredLanguage(languages)
  const { refusal: words } = pageWords[language]
  const reason = reasons[code] ?? 'down'
  const next = isMailed ? words[`${reason}Text`] : words.again
  return noticePage(status, { language, title: words[reason], kind: 'bad', paragraphs: [next] })
}
