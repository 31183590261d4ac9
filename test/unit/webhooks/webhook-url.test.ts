import { describe, expect, it } from 'vitest'
import { webhookUrlProblem } from '../../../src/modules/webhooks/webhook-sender.ts'
import { internalHosts } from '../../support/internal-hosts.ts'

const strict = { allowInsecure: false }

describe('webhook URLs', () => {
  it.each([
    'https://example.org',
    'https://example.org/hook?token=1',
    'https://example.org:8443/hook',
    'https://hooks.xn--bcher-kva.example/',
    'https://93.184.215.14/hook',
    'https://[2606:4700:4700::1111]/hook',
    'https://local.example.org',
    'https://localhost.example.org',
  ])('allows the webhook URL %s', (url) => {
    expect(webhookUrlProblem(url, strict)).toBeUndefined()
  })

  it.each(internalHosts)('rejects a webhook URL with the internal host %s', (host) => {
    expect(webhookUrlProblem(`https://${host}/hook`, strict)).toMatch(/internal address|valid URL/)
  })

  it.each([
    ['ftp://example.org', 'Enter a URL that starts with https://.'],
    ['http://example.org', 'Enter a URL that starts with https://.'],
    ['file:///etc/passwd', 'Enter a URL that starts with https://.'],
    ['https://user@example.org', 'A webhook URL must not contain credentials.'],
    ['https://:secret@example.org', 'A webhook URL must not contain credentials.'],
    ['https://example.org:22', 'Use port 443, or a port from 1024 on.'],
    ['https://example.org:0', 'Use port 443, or a port from 1024 on.'],
    ['https://example.org:99999', 'Enter a valid URL.'],
    ['example.org/hook', 'Enter a valid URL.'],
    ['https://exa mple.org', 'Enter a valid URL.'],
    ['https://example.org/\nhook', 'Enter a valid URL.'],
    ['https:\\\\example.org', 'Enter a valid URL.'],
    ['', 'Enter a valid URL.'],
    [`https://example.org/${'a'.repeat(2048)}`, 'Ensure this field has no more than 2048 characters.'],
  ])('rejects the webhook URL %s: %s', (url, problem) => {
    expect(webhookUrlProblem(url, strict)).toBe(problem)
  })

  it('allows plain HTTP webhook URLs in development, but no other schemes', () => {
    const insecure = { allowInsecure: true }
    expect(webhookUrlProblem('http://127.0.0.1:8080/hook', insecure)).toBeUndefined()
    expect(webhookUrlProblem('http://localhost/hook', insecure)).toBeUndefined()
    expect(webhookUrlProblem('ftp://localhost/hook', insecure)).toBe('Enter a URL that starts with https://.')
    expect(webhookUrlProblem('http://a:b@localhost/hook', insecure)).toBe('A webhook URL must not contain credentials.')
  })
})
