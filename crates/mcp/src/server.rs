//! The SDK's server for one request: what is asked of it is asked of [`Tools`].

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as Shown, ToolAnnotations,
    },
    service::RequestContext,
};

use crate::{About, Outcome, Tool, Tools};

pub(crate) struct Server<T> {
    tools: Arc<T>,
    about: About,
    arguments: Arc<str>,
}

impl<T> Clone for Server<T> {
    fn clone(&self) -> Self {
        Self { tools: self.tools.clone(), about: self.about, arguments: self.arguments.clone() }
    }
}

impl<T: Tools> Server<T> {
    pub(crate) fn new(tools: T, about: About, arguments: String) -> Self {
        Self { tools: Arc::new(tools), about, arguments: arguments.into() }
    }
}

impl<T: Tools> ServerHandler for Server<T> {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(self.about.name, self.about.version))
            .with_instructions(self.tools.instructions())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.tools().into_iter().map(shown).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.tools.call(&request.name, self.arguments.to_string()).await {
            Some(outcome) => Ok(result(outcome).into()),
            None => Err(ErrorData::invalid_params("there is no tool of this name", None)),
        }
    }
}

/// A repeat of a call does nothing twice, whatever the tool.
fn shown(tool: Tool) -> Shown {
    let hints =
        ToolAnnotations::new().read_only(false).destructive(tool.is_destructive).idempotent(true).open_world(true);
    let shown = Shown::new(tool.name, tool.description, Arc::new(tool.input)).with_annotations(hints);
    match tool.output {
        Some(output) => shown.with_raw_output_schema(Arc::new(output)),
        None => shown,
    }
}

fn result(outcome: Outcome) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(outcome.text)]);
    result.structured_content = outcome.structured;
    result.is_error = Some(outcome.is_error);
    result
}
