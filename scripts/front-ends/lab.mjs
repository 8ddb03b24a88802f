// A page with a notebook of JupyterLab alone, which runs all of its cells: what `jupyter lab` shows, put
// together from JupyterLab's packages as its own example `examples/notebook` does.
import '@jupyterlab/ui-components/style/index.js'
import '@jupyterlab/application/style/index.js'
import '@jupyterlab/codemirror/style/index.js'
import '@jupyterlab/completer/style/index.js'
import '@jupyterlab/notebook/style/index.js'
import '@jupyterlab/outputarea/style/index.js'
import '@jupyterlab/rendermime/style/index.js'
import {
  CodeMirrorEditorFactory,
  CodeMirrorMimeTypeService,
  EditorExtensionRegistry,
  EditorLanguageRegistry,
  EditorThemeRegistry,
  ybinding,
} from '@jupyterlab/codemirror'
import { DocumentManager } from '@jupyterlab/docmanager'
import { DocumentRegistry } from '@jupyterlab/docregistry'
import { createMarkdownParser } from '@jupyterlab/markedparser-extension'
import {
  NotebookActions,
  NotebookModelFactory,
  NotebookPanel,
  NotebookWidgetFactory,
  StaticNotebook,
} from '@jupyterlab/notebook'
import { RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime'
import { ServerConnection, ServiceManager } from '@jupyterlab/services'
import { Widget } from '@lumino/widgets'

async function main() {
  const { notebook, token } = globalThis.flowdeltaLab
  const serverSettings = ServerConnection.makeSettings({
    baseUrl: `${location.origin}/`,
    wsUrl: `${location.origin.replace('http', 'ws')}/`,
    token,
    appendToken: true,
  })
  const manager = new ServiceManager({ serverSettings })
  await manager.ready
  const languages = new EditorLanguageRegistry()
  for (const language of EditorLanguageRegistry.getDefaultLanguages())
    languages.addLanguage(language)
  const themes = new EditorThemeRegistry()
  for (const theme of EditorThemeRegistry.getDefaultThemes()) themes.addTheme(theme)
  const extensions = new EditorExtensionRegistry()
  for (const factory of EditorExtensionRegistry.getDefaultExtensions({ themes }))
    extensions.addExtension(factory)
  extensions.addExtension({
    name: 'shared-model-binding',
    factory: (options) => {
      const { sharedModel } = options.model
      return EditorExtensionRegistry.createImmutableExtension(
        ybinding({ ytext: sharedModel.ysource, undoManager: sharedModel.undoManager ?? undefined }),
      )
    },
  })
  const mimeTypeService = new CodeMirrorMimeTypeService(languages)
  const editors = new CodeMirrorEditorFactory({ extensions, languages })
  const rendermime = new RenderMimeRegistry({
    initialFactories: standardRendererFactories,
    markdownParser: createMarkdownParser(languages),
  })
  const registry = new DocumentRegistry()
  const documents = new DocumentManager({ registry, manager, opener: { open: () => {} } })
  registry.addModelFactory(new NotebookModelFactory({}))
  registry.addWidgetFactory(
    new NotebookWidgetFactory({
      name: 'Notebook',
      modelName: 'notebook',
      fileTypes: ['notebook'],
      defaultFor: ['notebook'],
      preferKernel: true,
      canStartKernel: true,
      rendermime,
      mimeTypeService,
      contentFactory: new NotebookPanel.ContentFactory({ editorFactory: editors.newInlineEditor }),
      notebookConfig: { ...StaticNotebook.defaultNotebookConfig, windowingMode: 'none' },
    }),
  )
  const panel = documents.open(notebook)
  panel.id = 'notebook'
  Widget.attach(panel, document.body)
  addEventListener('resize', () => panel.update())
  await panel.context.ready
  await panel.sessionContext.ready
  panel.content.model.trusted = true
  for (const cell of panel.content.widgets) cell.model.trusted = true
  await NotebookActions.clearAllOutputs(panel.content)
  const isDone = await NotebookActions.runAll(panel.content, panel.sessionContext)
  document.title = isDone ? 'done' : 'failed'
}
main().catch((error) => {
  console.error(error)
  document.title = 'failed'
})
