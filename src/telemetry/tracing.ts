/** OpenTelemetry spans over OTLP. Sets no global state, so two services in one process stay separate. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { DomainError } from '../shared/errors.ts'
import type { Origin, SpanFacts, SpanOptions, Tracer } from './telemetry-types.ts'

export interface TracingOptions {
  url: string
  /** Share of sampled traces, from 0 to 1. */
  share: number
  /** Milliseconds between two exports. */
  exportEvery: number
}

export type Tracing = Awaited<ReturnType<typeof openTracing>>

const CLOSE_MS = 3_000
const kinds = { client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER }

/** An error message could contain the caller's input. */
const kindOf = (error: unknown) =>
  error instanceof DomainError ? error.code : error instanceof Error ? error.name : 'unknown'

const propagator = new W3CTraceContextPropagator()

const contextOf = (origin: Origin | undefined): Context | undefined => {
  if (!origin) return undefined
  const context = propagator.extract(ROOT_CONTEXT, { traceparent: origin }, defaultTextMapGetter)
  return trace.getSpanContext(context) && context
}

async function finish<T>(spans: readonly Span[], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    for (const span of spans) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', kindOf(error))
    throw error
  } finally {
    for (const span of spans) span.end()
  }
}

export async function openTracing(options: TracingOptions, version: string) {
  const own = resourceFromAttributes({ 'service.name': 'annal', 'service.version': version })
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.share) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: options.url }),
        scheduledDelayMillis: options.exportEvery,
      }),
    ],
  })
  const spans = provider.getTracer('annal', version)
  const current = new AsyncLocalStorage<Context>()

  const start = (name: string, { kind, facts }: SpanOptions, context: Context, startTime?: number) => {
    const given = { ...(facts && { attributes: { ...facts } }), ...(startTime !== undefined && { startTime }) }
    return spans.startSpan(name, { kind: kind ? kinds[kind] : SpanKind.INTERNAL, ...given }, context)
  }

  const tracer: Tracer = {
    span(name, spanOptions, work) {
      const context = current.getStore()
      if (!context) return work()
      const span = start(name, spanOptions, context)
      return current.run(trace.setSpan(context, span), () => finish([span], work))
    },
    resume(origins, name, spanOptions, work) {
      const contexts = origins.flatMap((origin) => contextOf(origin) ?? [])
      const started = contexts.map((context) => start(name, spanOptions, context))
      const [first] = started
      if (!first) return work()
      return current.run(trace.setSpan(contexts[0]!, first), () => finish(started, work))
    },
    note(origin, name, spanOptions, milliseconds) {
      const context = contextOf(origin)
      if (context) start(name, spanOptions, context, Date.now() - milliseconds).end()
    },
    origin() {
      const context = current.getStore()
      if (!context) return null
      const carrier: { traceparent?: string } = {}
      propagator.inject(context, carrier, defaultTextMapSetter)
      return carrier.traceparent ?? null
    },
  }

  return {
    tracer,
    /** Continues the caller's trace if the headers contain one. */
    begin(method: string, headers: IncomingHttpHeaders) {
      const remote = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter)
      const span = spans.startSpan(method, { kind: SpanKind.SERVER }, remote)
      const context = trace.setSpan(remote, span)
      return {
        run: <T>(work: () => T): T => current.run(context, work),
        /** Call after the response. `isFault` marks a server error. */
        end(name: string, facts: SpanFacts, isFault: boolean) {
          span.updateName(name).setAttributes({ ...facts })
          if (isFault) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    /** Sends the remaining spans within a few seconds. Never throws. */
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref())
      await Promise.race([provider.shutdown().catch(() => undefined), late])
    },
  }
}
