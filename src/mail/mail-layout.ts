import { html } from 'hono/html'

/** Parts of a mail. Texts are not escaped. */
export interface MailBody {
  subject: string
  heading: string
  paragraphs: string[]
  /** The button of the mail. The text `address` and the full URL follow the button. */
  action?: { label: string; url: string; address: string }
  closing?: string[]
  facts: [name: string, value: string][]
  footer: string
}

const fontStack = "-apple-system,'Segoe UI',Roboto,'Noto Sans','PingFang TC','Microsoft JhengHei',Arial,sans-serif"

const nameCell = 'padding:10px 16px 10px 0;text-align:left;vertical-align:top;font-weight:400;white-space:nowrap'
const valueCell = 'padding:10px 0;text-align:right;vertical-align:top;font-weight:600;white-space:pre-line'
/** Style that breaks long names on a phone. Mail programs support only one of the two properties. */
const breaking = 'overflow-wrap:anywhere;word-break:break-word'

const button =
  'display:inline-block;padding:12px 24px;background-color:#0b57d0;color:#ffffff;border-radius:6px;font-weight:600;text-decoration:none'

const renderParagraphs = (paragraphs: string[]) =>
  paragraphs.map((paragraph) => html`<p style="margin:0 0 16px">${paragraph}</p>`)

const renderAction = ({ label, url, address }: NonNullable<MailBody['action']>) =>
  html`<p style="margin:24px 0"><a href="${url}" class="button" style="${button}">${label}</a></p>
<p class="quiet" style="margin:0 0 16px;font-size:14px;color:#57606a">${address}<br><a href="${url}" class="plain" style="color:#0b57d0;overflow-wrap:anywhere;word-break:break-all">${url}</a></p>
`

/** Renders a mail as HTML. Inline colours serve programs that drop style sheets. A mail loads no external resources. */
export const renderHtml = (
  { subject, heading, paragraphs, action, closing = [], facts, footer }: MailBody,
  language: string,
): string =>
  String(html`<!doctype html>
<html lang="${language}" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${subject}</title>
<style>
@media (prefers-color-scheme: dark) {
  .ground { background-color: #14171a !important; }
  .card { background-color: #1f2428 !important; color: #e6e8eb !important; border-color: #3a4149 !important; }
  .quiet { color: #a8b0b8 !important; }
  .line { border-color: #3a4149 !important; }
  .button { background-color: #8ab4f8 !important; color: #14171a !important; }
  .plain { color: #8ab4f8 !important; }
}
@media (max-width: 520px) {
  .inside { padding: 24px 20px !important; }
  .name { display: block !important; padding: 10px 0 0 !important; }
  .value { display: block !important; padding: 0 0 10px !important; border-top: 0 !important; text-align: left !important; }
}
</style>
</head>
<body class="ground" style="margin:0;padding:0;background-color:#f3f4f6;-webkit-text-size-adjust:100%">
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f3f4f6">
<tr>
<td align="center" style="padding:32px 16px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px;background-color:#ffffff;color:#1b1f24;border:1px solid #d9dde2;border-radius:8px;border-collapse:separate;font-family:${fontStack};font-size:16px;line-height:1.5;text-align:left">
<tr>
<td class="inside" style="padding:32px;${breaking}">
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3;font-weight:700">${heading}</h1>
${renderParagraphs(paragraphs)}
${action ? renderAction(action) : ''}${renderParagraphs(closing)}
<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 0;border-collapse:collapse;font-size:15px">
${facts.map(
  ([name, value]) =>
    html`<tr><th scope="row" class="name quiet line" style="${nameCell};color:#57606a;border-top:1px solid #d9dde2">${name}</th><td class="value line" dir="auto" style="${valueCell};border-top:1px solid #d9dde2">${value}</td></tr>\n`,
)}</table>
<p class="quiet" style="margin:24px 0 0;font-size:13px;color:#57606a">${footer}</p>
</td>
</tr>
</table>
</td>
</tr>
</table>
</body>
</html>
`)

export const renderText = ({ heading, paragraphs, action, closing = [], facts, footer }: MailBody): string =>
  [
    heading,
    ...paragraphs,
    // The URL is on a line of its own, so that mail programs recognize all of it as a link.
    ...(action ? [action.url] : []),
    ...closing,
    facts.map(([name, value]) => `${name}: ${value}`).join('\n'),
    // Mail programs treat the lines after `-- ` as a signature.
    `-- \n${footer}`,
  ].join('\n\n')
