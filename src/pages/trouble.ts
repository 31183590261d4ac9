/** What a person is told when a page could not be made. */
import type { ErrorCode } from '../domain/errors.ts'
import { noticePage } from './layout.ts'
import type { PageAnswer } from './page.ts'
import { pageWords, preferredLanguage } from './words.ts'

type Trouble = 'busy' | 'down' | 'unread'

const troubles: Partial<Record<ErrorCode, Trouble>> = {
  THROTTLED: 'busy',
  PARSE_ERROR: 'unread',
  PAYLOAD_TOO_LARGE: 'unread',
  UNSUPPORTED_MEDIA_TYPE: 'unread',
}

/** `status` is the one that the refusal has everywhere. */
export function troublePage(code: ErrorCode, status: number, languages: string): PageAnswer {
  const language = preferredLanguage(languages)
  const { trouble: words } = pageWords[language]
  const trouble = troubles[code] ?? 'down'
  return noticePage(status, { language, title: words[trouble], kind: 'bad', paragraphs: [words[`${trouble}Text`]] })
}
