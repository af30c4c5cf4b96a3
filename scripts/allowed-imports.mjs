// Which folder of src/ may import from which, folder by folder. A folder stands for the files in it and in the folders
// below it that have no line of their own. A name that ends in .ts is that file alone: the face of a part whose rest
// is its own affair, a file that knows more than its folder, or an exception. The check fails for an import that is not here and for a name that nobody uses.
export const allowedImports = lists({
  // What all parts share.
  base: '',
  concurrency: 'base',
  http: 'base',
  streams: 'base',
  pricing: 'base',
  // Providers. Outside, only the interface, the facts and the registry are known.
  batchers: `
    base http streams pricing batchers/anthropic batchers/aws batchers/azure batchers/bedrock batchers/compatible batchers/dashscope
    batchers/deepinfra batchers/doubleword batchers/fireworks batchers/google batchers/groq batchers/mistral batchers/moonshot
    batchers/nebius batchers/novita batchers/openai batchers/openrouter batchers/ovhcloud batchers/parasail
    batchers/perplexity batchers/qianfan batchers/sference batchers/shared batchers/siliconflow batchers/together batchers/vertex batchers/voyage batchers/xai batchers/zhipu
  `,
  'batchers/anthropic':
    'base http streams pricing batchers batchers/aws batchers/placeholders batchers/shared',
  'batchers/aws': 'base http',
  'batchers/bedrock': `
    base http streams pricing batchers batchers/anthropic batchers/aws batchers/openai batchers/shared
  `,
  'batchers/azure': 'base concurrency http batchers batchers/openai batchers/shared',
  'batchers/compatible': 'batchers batchers/openai',
  'batchers/dashscope': 'batchers batchers/compatible batchers/openai batchers/shared',
  'batchers/deepinfra': 'batchers batchers/compatible batchers/openai',
  'batchers/doubleword': 'base http batchers batchers/openai batchers/shared',
  'batchers/fireworks': 'base concurrency http batchers batchers/openai batchers/shared',
  'batchers/google': 'base http streams pricing batchers batchers/placeholders batchers/shared',
  'batchers/groq': 'base batchers batchers/openai batchers/shared',
  'batchers/mistral': 'base http streams batchers batchers/openai batchers/shared',
  'batchers/moonshot': 'batchers batchers/compatible batchers/openai batchers/shared',
  'batchers/nebius': 'batchers batchers/compatible batchers/openai',
  'batchers/novita': 'base batchers batchers/compatible batchers/openai',
  'batchers/openai': 'base http streams pricing batchers batchers/placeholders batchers/shared',
  'batchers/openrouter': `
    base http streams batchers batchers/anthropic batchers/openai batchers/shared
  `,
  'batchers/ovhcloud': 'batchers batchers/compatible batchers/openai batchers/shared',
  'batchers/parasail': 'batchers batchers/compatible batchers/openai',
  'batchers/perplexity': `
    base http streams pricing batchers batchers/compatible batchers/openai batchers/shared
  `,
  'batchers/placeholders': 'base',
  'batchers/qianfan': 'batchers batchers/compatible batchers/openai batchers/shared',
  'batchers/sference': 'base http batchers batchers/openai batchers/shared',
  'batchers/shared': 'base concurrency http pricing batchers',
  'batchers/siliconflow': 'base batchers batchers/compatible batchers/openai batchers/shared',
  'batchers/together': 'base http batchers batchers/openai batchers/shared',
  'batchers/vertex': `
    base http streams batchers batchers/anthropic batchers/google batchers/shared
  `,
  'batchers/voyage': 'base http batchers batchers/compatible batchers/openai batchers/shared',
  'batchers/xai': 'base http batchers batchers/openai batchers/shared',
  'batchers/zhipu': 'batchers batchers/compatible batchers/openai',
  // Ledgers. Outside, only the interface is known, and to the composition root what opens one.
  ledger: 'base',
  'ledger/open-ledger.ts': 'base ledger ledger/memory ledger/postgres ledger/sqlite',
  'ledger/open-contents.ts': 'base ledger ledger/copy ledger/postgres ledger/sqlite',
  'ledger/copy': 'base ledger',
  'ledger/memory': 'base ledger ledger/sql',
  'ledger/postgres': 'base concurrency ledger ledger/copy ledger/sql',
  'ledger/sql': 'base concurrency ledger',
  'ledger/sqlite': 'base concurrency ledger ledger/copy ledger/sql',
  // Traces and metrics of OpenTelemetry: an entry of its own, which hears the channels.
  otel: 'base orchestrator/events/events.ts',
  // Signed messages to receivers that the user names.
  webhooks: 'base concurrency/backoff.ts http ledger/ledger.ts options/form.ts',
  // The steps of the walk: a step may use those after it.
  orchestrator: `
    base concurrency http batchers/batcher.ts ledger/ledger.ts ledger/view.ts orchestrator/answer orchestrator/capture
    orchestrator/collect orchestrator/events orchestrator/gate orchestrator/lanes orchestrator/model
    orchestrator/lines orchestrator/queue orchestrator/submit orchestrator/takeover orchestrator/watch
    webhooks/mailbox.ts
  `,
  'orchestrator/answer': `
    base concurrency http streams pricing batchers/batcher.ts ledger/ledger.ts orchestrator/events orchestrator/model
  `,
  'orchestrator/capture': `
    base concurrency http batchers/batcher.ts batchers/llm-wires.ts batchers/provider-info.ts batchers/registry.ts
    batchers/wildcards.ts ledger/ledger.ts orchestrator/answer orchestrator/events orchestrator/model
    orchestrator/queue orchestrator/submit orchestrator/takeover orchestrator/watch
  `,
  'orchestrator/collect': `
    base concurrency pricing batchers/batcher.ts ledger/ledger.ts orchestrator/answer orchestrator/events
    orchestrator/model
  `,
  'orchestrator/dry-run': `
    base concurrency streams pricing batchers/batcher.ts ledger/ledger.ts orchestrator/answer orchestrator/capture
    orchestrator/events orchestrator/gate/kind.ts orchestrator/model orchestrator/queue orchestrator/submit
  `,
  'orchestrator/events': `
    base concurrency http batchers/batcher.ts orchestrator/model/batch-times.ts orchestrator/model/call.ts
    orchestrator/model/failure-of.ts
  `,
  'orchestrator/gate': `
    base concurrency pricing batchers/batcher.ts ledger/ledger.ts orchestrator/answer orchestrator/model
    orchestrator/submit
  `,
  'orchestrator/lanes': `
    base concurrency http streams pricing batchers/batcher.ts ledger/ledger.ts orchestrator/answer orchestrator/events orchestrator/model
    orchestrator/submit
  `,
  'orchestrator/lines': `
    base concurrency pricing batchers/batcher.ts ledger/ledger.ts orchestrator/capture orchestrator/events
    orchestrator/gate/kind.ts orchestrator/model orchestrator/queue orchestrator/submit
  `,
  'orchestrator/model': `
    base concurrency http streams pricing batchers/batcher.ts batchers/provider-info.ts
    batchers/shared/refused-error.ts batchers/shared/replies.ts ledger/ledger.ts orchestrator/events/batch-labels.ts orchestrator/events/events.ts
    orchestrator/events/troubles.ts webhooks/mailbox.ts
  `,
  'orchestrator/queue': `
    base concurrency http pricing batchers/batcher.ts batchers/limit-settings.ts batchers/provider-info.ts
    ledger/ledger.ts orchestrator/events orchestrator/model
  `,
  'orchestrator/submit': `
    base concurrency pricing batchers/batcher.ts batchers/shared/refused-error.ts ledger/ledger.ts
    orchestrator/answer orchestrator/collect orchestrator/events orchestrator/model orchestrator/watch
  `,
  'orchestrator/takeover': `
    base concurrency batchers/batcher.ts batchers/shared/refused-error.ts ledger/ledger.ts orchestrator/answer
    orchestrator/events orchestrator/model orchestrator/submit orchestrator/watch
  `,
  'orchestrator/watch': `
    base concurrency http batchers/batcher.ts orchestrator/answer orchestrator/collect orchestrator/model
  `,
  // Hooks know no provider, no ledger and no step of the walk.
  hooks: 'base hooks/abort-guard hooks/client-timers hooks/fetch hooks/http2 hooks/node-http',
  'hooks/abort-guard': `
    base hooks/add-owner.ts hooks/border.ts hooks/patch-registry.ts hooks/state.ts
  `,
  'hooks/client-timers': 'hooks/border.ts hooks/patch-registry.ts hooks/state.ts',
  'hooks/fetch': `
    base hooks/active-mock.ts hooks/border.ts hooks/client-timers hooks/node-http hooks/patch-registry.ts hooks/state.ts
  `,
  'hooks/http2': `
    base hooks/abort-guard hooks/border.ts hooks/node-http hooks/patch-registry.ts hooks/raw-call.ts hooks/state.ts
  `,
  'hooks/node-http': `
    base hooks/abort-guard hooks/active-mock.ts hooks/border.ts hooks/patch-registry.ts hooks/raw-call.ts hooks/state.ts
  `,
  // What people are shown.
  report: `
    base ledger/ledger.ts orchestrator/events orchestrator/model report/run report/terminal report/text
  `,
  'report/run': `
    base orchestrator/dry-run orchestrator/events orchestrator/model report/call-counts.ts
    report/display-mode.ts report/display.ts report/json-line.ts report/terminal report/text report/text-display.ts
  `,
  'report/terminal': 'hooks/patch-registry.ts',
  'report/text': `
    base pricing ledger/ledger.ts orchestrator/dry-run orchestrator/events orchestrator/model report/call-counts.ts report/display.ts
    report/progress-state.ts report/run report/terminal
  `,
  // Options.
  options: `
    base batchers/limit-settings.ts batchers/provider-info.ts batchers/registry.ts orchestrator/capture
    orchestrator/model options/config webhooks/webhook-form.ts
  `,
  'options/config': 'base options/form.ts options/resolve.ts',
  // Scopes; scope/engine is the composition root. Of the hooks they know the border, the shared state, the switch, the watch
  // of a signal, client timers, and the fetch that `scope.fetch` is made of.
  scope: `
    base concurrency ledger/ledger.ts orchestrator/events orchestrator/model hooks/border.ts
    hooks/client-timers/client-timers.ts hooks/fetch/fetch.ts hooks/install.ts hooks/state.ts report options
    scope/calls scope/dry-run scope/engine
  `,
  'scope/calls': `
    base concurrency pricing batchers/batcher.ts batchers/registry.ts ledger/ledger.ts orchestrator/answer orchestrator/capture
    orchestrator/events orchestrator/model hooks/abort-guard/signal-watch.ts hooks/border.ts hooks/state.ts report
    report/text options scope/dry-run scope/engine scope/process-calls.ts scope/scope-events.ts
  `,
  'scope/dry-run': `
    base orchestrator/dry-run hooks/state.ts report/text options scope/engine scope/leaving scope/scope-events.ts
  `,
  'scope/engine': `
    base concurrency http ledger/ledger.ts ledger/open-ledger.ts orchestrator/answer orchestrator/capture
    orchestrator/dry-run orchestrator/engine.ts orchestrator/model hooks/state.ts report report/run/report-to-run.ts options scope/dry-run
    scope/scope-events.ts
  `,
  'scope/leaving': `
    base concurrency report/run report/text options scope/calls scope/engine scope/process-calls.ts
  `,
  // The entries of the package.
  '': `
    base orchestrator/dry-run orchestrator/events orchestrator/model hooks/hide-gateway.ts hooks/install.ts hooks/patch-registry.ts
    hooks/state.ts map/lines/line-format.ts map/map-lines.ts map/map-request.ts options scope/batchify.ts scope/batching-context.ts scope/dry-run/dry-run-exit.ts
    scope/leaving/detach.ts scope/leaving/interrupts.ts scope/leaving/one-more-listener.ts scope/realtime.ts
    scope/scope.ts scope/top-level-await.ts
  `,
  // Jobs over files: they use an engine of their own.
  map: `
    base concurrency batchers/own-credentials.ts batchers/provider-info.ts batchers/registry.ts orchestrator/capture
    orchestrator/dry-run options options/config report/text scope/dry-run/dry-run-exit.ts scope/engine map/check map/disk map/input map/job map/lines
  `,
  'map/check': `
    base concurrency pricing orchestrator/capture orchestrator/dry-run orchestrator/model orchestrator/queue options
    map/disk map/input map/job map/lines
  `,
  'map/disk': 'base ledger/sqlite/connection/driver.ts ledger/sqlite/connection/store-errors.ts',
  'map/input': 'base concurrency map/lines',
  'map/job': `
    base concurrency pricing orchestrator/answer orchestrator/capture orchestrator/engine.ts orchestrator/events
    orchestrator/lines orchestrator/model options scope/engine map/destination.ts map/disk map/input map/lines map/map-request.ts
  `,
  'map/lines': 'base batchers/registry.ts batchers/shared map/check map/map-request.ts',
  // The gateway is a program that uses scopes.
  gateway: `
    base concurrency batchers/registry.ts orchestrator/answer orchestrator/engine.ts orchestrator/model
    hooks/border.ts hooks/raw-call.ts options scope/calls/scope-calls.ts scope/engine/engines.ts
    scope/process-calls.ts scope/scope.ts ui/page.ts gateway/admission gateway/hints gateway/pass-through gateway/request gateway/waiting
  `,
  'gateway/hints': `
    base http options gateway/admission gateway/gateway-context.ts gateway/gateway-error.ts gateway/send-answer.ts
  `,
  'gateway/admission': 'base gateway/gateway-error.ts',
  'gateway/pass-through': `
    base http pricing batchers/limit-settings.ts batchers/provider-info.ts orchestrator/answer options
    gateway/admission gateway/gateway-error.ts gateway/request gateway/waiting
  `,
  'gateway/request': `
    base concurrency batchers/provider-info.ts batchers/registry.ts orchestrator/capture orchestrator/model
    options gateway/gateway-error.ts gateway/waiting
  `,
  'gateway/waiting': 'concurrency hooks/border.ts gateway/send-answer.ts',
  // The page on a ledger. The browser's own code knows the forms of its server's answers, and nothing behind them.
  ui: `
    base gateway/admission gateway/gateway-error.ts gateway/listen.ts gateway/request/clean-path.ts ledger/ledger.ts ledger/view.ts
    orchestrator/model/batch-times.ts ui/api
  `,
  'ui/api': `
    concurrency gateway/gateway-error.ts ledger/daily-costs.ts ledger/ledger.ts ledger/view.ts orchestrator/model
    report/text ui/api-types.ts ui/readable
  `,
  'ui/browser': 'ui/api-types.ts ui/readable',
  'ui/readable': 'base/json.ts',
  // The command line.
  cli: `
    base concurrency/keep-alive.ts options/config options/flags.ts options/types.ts
    cli/commands
  `,
  'cli/done': `
    base concurrency orchestrator/dry-run orchestrator/model report report/terminal report/text
    gateway/gateway.ts cli/exit-codes.ts cli/option-flags.ts cli/print ledger/open-ledger.ts options webhooks/mailbox.ts
  `,
  'cli/commands': `
    base http batchers/own-credentials.ts batchers/registry.ts ledger/copy/copy-contents.ts
    ledger/daily-costs.ts ledger/ledger.ts ledger/open-contents.ts orchestrator/dry-run orchestrator/events
    orchestrator/model/find-slow.ts report report/terminal report/text options index.ts
    gateway/gateway.ts map ui/page-server.ts cli/config-path.ts cli/interruptible.ts cli/listening.ts cli/doctor cli/done cli/exit-codes.ts cli/launch cli/map
    cli/option-flags.ts cli/print cli/store cli/usage-error.ts simulator/index.ts cli/commands.ts cli/completion
  `,
  'cli/completion': '',
  'cli/doctor': `
    base concurrency http batchers/batcher.ts batchers/own-credentials.ts batchers/provider-info.ts
    batchers/registry.ts ledger/ledger.ts ledger/sqlite/connection/driver.ts ledger/sqlite/schema/migrate.ts orchestrator/model report/text options
    options/config cli/exit-codes.ts cli/print cli/store cli/usage-error.ts
  `,
  'cli/launch': `
    base ledger/open-ledger.ts orchestrator/dry-run report/run report/terminal report/text options options/config
    batchers/registry.ts gateway/gateway.ts scope/leaving/leave.ts scope/process-calls.ts cli/config-path.ts cli/done
    cli/exit-codes.ts cli/option-flags.ts cli/usage-error.ts simulator/index.ts
  `,
  'cli/map': `
    base map map/job options report report/terminal report/text cli/done cli/option-flags.ts cli/store cli/usage-error.ts
  `,
  'cli/print': `
    base ledger/ledger.ts orchestrator/model report/terminal report/text options gateway/gateway.ts
  `,
  'cli/store': `
    base concurrency http batchers/own-credentials.ts batchers/provider-info.ts batchers/registry.ts
    ledger/ledger.ts ledger/open-ledger.ts orchestrator/capture orchestrator/engine.ts orchestrator/events orchestrator/model report
    report/text options scope/engine/scope-terms.ts ui cli/config-path.ts cli/print cli/usage-error.ts
  `,
  // The simulator stands alone.
  simulator: '',
});

function lists(named) {
  return Object.fromEntries(
    Object.entries(named).map(([folder, names]) => [folder, names.split(/\s+/).filter(Boolean)]),
  );
}
