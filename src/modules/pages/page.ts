/** What a page is to the door that serves it. */
import type { Context } from '../../services-context.ts'
import type { ErrorCode } from '../../shared/errors.ts'

/** What a page is asked with. */
export interface PageRequest {
  /** Parameters of the path. */
  params: Record<string, string>
  query: URLSearchParams
  /** The header Accept-Language, or nothing. */
  languages: string
  context: Context
}

/** A page as it is sent. */
export interface PageAnswer {
  status: number
  headers: Record<string, string>
  html: string
}

/** A page with a form that is sent to the page's own address. */
export interface FormPage {
  path: string
  /** Why it is no operation. */
  reason: string
  /** Changes nothing. Raises what services raise. */
  show(request: PageRequest): Promise<PageAnswer>
  /** Raises what services raise, except for what the person is told on the page. */
  submit(request: PageRequest, form: URLSearchParams): Promise<PageAnswer>
  /** Instead of this page; that of all mailed links when left out. */
  refusal?: Pages['refusal']
}

/** All pages that are served by forms. */
export interface Pages {
  forms: FormPage[]
  /** Instead of a page that could not be made. */
  refusal(code: ErrorCode, status: number, languages: string): PageAnswer
}
